// CallSockets: the files of the Unix domain sockets at which the instances of one machine take the calls of services. A service in a
// network namespace of its own reaches no address outside of it, and the path of a socket belongs to no network namespace.
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { invalidSetting, type SettingsReader } from './settings-reader.ts';

/** Maximum length of the path of a socket on Linux, in bytes. */
export const SOCKET_PATH_BYTES_MAX = 107;
/** Number of hexadecimal digits that stand for a project: its id would take too much of the length of a path. */
const PROJECT_DIGITS = 16;
const LONGEST_NAME = callSocketFile('/', 'any', { host: '255.255.255.255', port: 65_535 });
/** Maximum length of the path of a folder, in bytes: with the name of any socket with an IPv4 address it is short enough. */
export const SOCKETS_FOLDER_BYTES_MAX = SOCKET_PATH_BYTES_MAX - Buffer.byteLength(LONGEST_NAME);

/** Returns the folder of the sockets of a project's instances. */
export function projectSocketsFolder(folder: string, project: string): string {
  return join(folder, createHash('sha256').update(project).digest('hex').slice(0, PROJECT_DIGITS));
}

/** Returns the file of the socket of the instance of a project that has the address. An IPv6 address has no brackets. */
export function callSocketFile(
  folder: string,
  project: string,
  { host, port }: { readonly host: string; readonly port: number },
): string {
  return join(projectSocketsFolder(folder, project), `${host}-${port}.sock`);
}

/** Whether the absolute path is short enough for a folder of sockets. */
export function isSocketsFolderPath(folder: string): boolean {
  return Buffer.byteLength(folder) <= SOCKETS_FOLDER_BYTES_MAX;
}

/**
 * Returns the absolute path of the folder of sockets that the setting names; undefined: none is set. Throws SVC_SETTING_INVALID
 * for a path that is too long.
 */
export function readSocketsFolder(reader: SettingsReader, dotted: string): string | undefined {
  const given = reader.text(dotted);
  if (given === undefined) return undefined;
  const folder = resolve(given);
  if (isSocketsFolderPath(folder)) return folder;
  throw invalidSetting(
    dotted,
    given,
    `a folder whose absolute path has at most ${SOCKETS_FOLDER_BYTES_MAX} bytes, because the path of a socket has at most ${SOCKET_PATH_BYTES_MAX}`,
  );
}
