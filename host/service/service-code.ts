// ServiceCode: where the code of a service is, as its settings have it: in the file of a module, in a process at an address, or in one
// that a command starts.
import { basename, resolve } from 'node:path';
import { readPath } from '@svc/kit/program-flags';
import { invalidSetting, type SettingsReader } from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';
import { commandWords } from '../hosting/process/command-words.ts';
import { isProcessAddress, PROCESS_ADDRESS_WORDS } from '../hosting/process/process-address.ts';

/** Default path of a deployed instance's module. */
const DEPLOYED_MODULE = '/service/module.wasm';

export type ServiceCode =
  /** `file`: absolute path. */
  | { readonly kind: 'module'; readonly file: string }
  /** `address`: `127.0.0.1:PORT`. `file`: absolute path of the file with the command by which the runtime starts it; absent: others do. */
  | { readonly kind: 'process'; readonly address: string; readonly file?: string | undefined }
  | CommandCode;

/** Code that is there, or comes by itself. */
export type ServedCode = Exclude<ServiceCode, CommandCode>;

/** The runtime starts the process, and keeps it running. */
export interface CommandCode {
  readonly kind: 'command';
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Absolute path of a folder whose changes start the command again; undefined: none. */
  readonly watched: string | undefined;
}

export const CODE_NAMES = {
  address: 'svc.process.address',
  file: 'svc.process.file',
  command: 'svc.process.command',
  watch: 'svc.process.watch',
} as const;

/** Throws SVC_USAGE if there is no code or more than one, and SVC_SETTING_INVALID. */
export function readServiceCode(
  reader: SettingsReader,
  positionals: readonly string[],
  deployed: boolean,
): ServiceCode {
  const address = reader.text(CODE_NAMES.address);
  const line = reader.text(CODE_NAMES.command);
  const watched = reader.text(CODE_NAMES.watch);
  const given = [
    ...positionals,
    ...(address === undefined ? [] : ['--process']),
    ...(line === undefined ? [] : ['--process-command']),
  ];
  if (given.length > 1 && given.length > positionals.length)
    throw new SvcError(
      'SVC_USAGE',
      `run takes a MODULE.wasm, or --process, or --process-command, and found ${given.join(' and ')}: leave out all but one.`,
    );
  const file = readPath(reader, CODE_NAMES.file);
  if (address === undefined && file !== undefined)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `${CODE_NAMES.file} has the command of a process, and no address: name the one at which the process listens with ${CODE_NAMES.address}.`,
    );
  if (line !== undefined) return commandCode(line, watched);
  if (watched !== undefined)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `${CODE_NAMES.watch} is for a process that the runtime starts: add --process-command, or leave it out.`,
    );
  if (address === undefined)
    return { kind: 'module', file: resolve(moduleOf(positionals, deployed)) };
  if (!isProcessAddress(address))
    throw invalidSetting(CODE_NAMES.address, address, PROCESS_ADDRESS_WORDS);
  return { kind: 'process', address, file };
}

/** Returns the name of a service after its code; undefined if the code has none. */
export function nameOfCode(code: ServiceCode): string | undefined {
  if (code.kind !== 'module') return undefined;
  const plain = basename(code.file, '.wasm')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  return plain.replaceAll(/^-+|-+$/g, '').slice(0, 63);
}

function commandCode(line: string, watched: string | undefined): CommandCode {
  const command = commandWords(line);
  if (command === undefined)
    throw invalidSetting(
      CODE_NAMES.command,
      line,
      "a program and its arguments, with each quote closed, as 'python3 main.py'",
    );
  return {
    kind: 'command',
    command,
    watched: watched === undefined ? undefined : resolve(watched),
  };
}

/** Returns the file of the module. For a deployed instance the default is its path in the image. */
function moduleOf(positionals: readonly string[], deployed: boolean): string {
  const [moduleFile, ...others] = positionals;
  if (moduleFile !== undefined && moduleFile !== '' && others.length === 0) return moduleFile;
  if (moduleFile === undefined && deployed) return DEPLOYED_MODULE;
  throw new SvcError(
    'SVC_USAGE',
    `run takes one MODULE.wasm, and found ${positionals.join(' ') || 'none'}. svc run --help says more.`,
  );
}
