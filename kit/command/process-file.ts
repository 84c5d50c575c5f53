// ProcessFile: the file with the command and the environment of the process that a sidecar runs, which is the proxy of a web-hosted
// service (svc.proxy.process-file) or the runtime (svc.process.file). Its content counts as foreign text. No message has anything of it: a
// variable may be a secret, and a path is one of the server.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { SvcError } from '../svc-error.ts';

export interface ProcessCommand {
  /** The setting that names the file, for messages. */
  readonly setting: string;
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Maximum size of the file, in bytes. */
const BYTES_MAX = 1024 * 1024;
const WORDS_MAX = 4096;
const VARIABLES_MAX = 4096;

/** `setting`: the one that names the file. Rejects with SVC_SETTING_INVALID. */
export async function readProcessFile(path: string, setting: string): Promise<ProcessCommand> {
  const unusable = (reason: string): SvcError => unusableFile(setting, reason);
  const text = await readText(path, unusable);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusable('it is no JSON');
  }
  if (!isRecord(value)) throw unusable('it is no JSON object');
  const { command, env = {}, ...others } = value;
  if (Object.keys(others).length > 0) throw unusable('it has a member beside "command" and "env"');
  if (!isCommand(command))
    throw unusable(
      `"command" is no list of 1 to ${WORDS_MAX} texts of which the first is a program`,
    );
  if (!isEnvironment(env)) throw unusable(`"env" is no object of up to ${VARIABLES_MAX} texts`);
  return { setting, command, env };
}

async function readText(path: string, unusable: (reason: string) => SvcError): Promise<string> {
  let file: FileHandle | undefined;
  try {
    // Opening a pipe would wait for its writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) throw unusable('it is no file');
    if (stats.size > BYTES_MAX) throw unusable(`it has more than ${BYTES_MAX} bytes`);
    return await file.readFile('utf8');
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw unusable(`it cannot be read (${(error as NodeJS.ErrnoException).code})`);
  } finally {
    await file?.close();
  }
}

function isCommand(value: unknown): value is [string, ...string[]] {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= WORDS_MAX &&
    value[0] !== '' &&
    value.every(isText)
  );
}

function isEnvironment(value: unknown): value is Record<string, string> {
  if (!isRecord(value)) return false;
  const variables = Object.entries(value);
  return (
    variables.length <= VARIABLES_MAX &&
    variables.every(([name, text]) => /^[^=\0]+$/.test(name) && isText(text))
  );
}

/** A NUL would end a text of the system. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unusableFile(setting: string, reason: string): SvcError {
  return new SvcError(
    'SVC_SETTING_INVALID',
    `The file that ${setting} names cannot be used: ${reason}. Write {"command": ["PROGRAM", "ARGUMENT"], "env": {"NAME": "VALUE"}}.`,
  );
}
