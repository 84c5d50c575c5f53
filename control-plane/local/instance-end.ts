// InstanceEnd: why an instance has ended, in words for the members of its project, and whether starting it again can help.
//
// Invariant: what is below the folder of the machine is not named by its path.
import { dirname, join } from 'node:path';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import { lastLineIn } from '../orchestration/last-line.ts';
import type { Found } from './found-instances.ts';
import { logsOf } from './instance-logs.ts';

const LINE_CHARACTERS_MAX = 300;
const OUTPUT_BYTES_MAX = 16 * 1024;
/** Number of lines among which the one that says most is looked for: an error of Node has its stack below it. */
const OUTPUT_LINES = 40;

/**
 * Failures of the module itself, of its settings, of what it would do to the journal, or of stored events that it does not read: another
 * start has the same end. A file that cannot be read and a check that took too long on a busy machine are none of them.
 */
const FINAL: ReadonlySet<string> = new Set<SvcErrorCode>([
  'SVC_MODULE_NOT_WASM',
  'SVC_MODULE_NOT_A_COMPONENT',
  'SVC_MODULE_MALFORMED',
  'SVC_MODULE_TOO_LARGE',
  'SVC_MODULE_FOREIGN_IMPORT',
  'SVC_MODULE_OTHER_VERSION',
  'SVC_MODULE_NO_DESCRIPTOR',
  'SVC_MODULE_BAD_DESCRIPTOR',
  'SVC_MODULE_STRUCTURE',
  'SVC_MODULE_UNSUPPORTED_CODE',
  'SVC_MODULE_BAD_NAME',
  'SVC_MODULE_START_FAILED',
  'SVC_DEFINITION_INVALID',
  'SVC_PROGRAM_INVALID',
  'SVC_PROCESS_INVALID',
  'SVC_UPGRADE_UNSAFE',
  'SVC_MANIFEST_UNREADABLE',
  'SVC_CONFIGURATION_INVALID',
  'SVC_SETTING_INVALID',
  'SVC_USAGE',
]);

export function isFinalFailure(code: string | undefined): boolean {
  return code !== undefined && FINAL.has(code);
}

/**
 * Returns whether an instance with a database has ended because it cannot join those that run `modules` other modules: they do not understand
 * each other (SVC_UPGRADE_UNSAFE, which it reports for no other reason), or would be more than two.
 */
export function isRefusedBeside(code: string | undefined, modules: number): boolean {
  return (
    (code === 'SVC_UPGRADE_UNSAFE' && modules > 0) || (code === 'SVC_DATA_IN_USE' && modules > 1)
  );
}

/** Returns the failure that the instance has reported, or how its process has ended and its last line of output. */
export function endInWords({ folder, end }: Pick<Found, 'folder' | 'end'>): string {
  return withoutPaths(reasonOf({ folder, end }), folder);
}

/** Returns that the instance has not started, with its last line of output; undefined if it has written none. */
export function startInWords(folder: Found['folder']): string | undefined {
  const line = lastLineOf(folder);
  return line === undefined
    ? undefined
    : withoutPaths(`has not started; its last line: ${line}`, folder);
}

function reasonOf({ folder, end }: Pick<Found, 'folder' | 'end'>): string {
  const { exit, refusal } = end ?? {};
  if (refusal !== undefined) return `its process could not be started: ${refusal}`;
  if (exit?.error !== undefined) return `${exit.error}: ${exit.message ?? ''}`;
  const line = lastLineOf(folder);
  return line === undefined ? howInWords(exit) : `${howInWords(exit)}; its last line: ${line}`;
}

/** Returns the text with words for the files of the instance, of which only the operator knows where they are. */
function withoutPaths(text: string, { path, spec }: Found['folder']): string {
  const instances = dirname(dirname(dirname(path)));
  const machine = dirname(instances);
  const data = join(machine, 'data', spec.key.project, spec.key.service);
  const { moduleFile } = spec;
  return (moduleFile === undefined ? text : text.replaceAll(moduleFile, 'its module'))
    .replaceAll(data, 'its data folder')
    .replace(secretIn(spec), (_path, name: string) => `the secret ${name}`)
    .split(`${machine}/`)
    .map((part, index) =>
      index === 0 ? part : part.replace(/^[^\s:;,'"]*/, 'a file of this machine'),
    )
    .join('');
}

/** The file of the secret with the URL of its database, which is in a folder of the operator. */
function secretIn({ key: { project }, descriptor: { database } }: Found['folder']['spec']): RegExp {
  // A descriptor without a database has no such name.
  const name = RegExp.escape(database?.urlFrom ?? '/');
  return new RegExp(`(?:the file )?/[^\\s:;,'"]*/${project}/(${name})(?![\\w-])`, 'g');
}

function howInWords(
  exit: { readonly code: number | null; readonly signal: string | null } | undefined,
) {
  if (exit === undefined) return 'it ended without saying why, or was killed';
  return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}

/** Returns the line of the output that says best why the process has ended, that of an entry of a log its message; undefined if there is none. */
function lastLineOf(folder: Found['folder']): string | undefined {
  const { output } = logsOf(folder, {
    previous: false,
    tail: OUTPUT_LINES,
    bytesMax: OUTPUT_BYTES_MAX,
  });
  return lastLineIn(output, LINE_CHARACTERS_MAX);
}
