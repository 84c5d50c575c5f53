// ControlSocket: the file of the Unix domain socket by which the operator's programs change a running host. It is in a folder
// of its own under the folder for temporary files, because the path of a socket has at most 107 bytes.
//
// Invariants
// S1  Only the user who runs the host can reach a socket that `makeControlSocket` has named: others cannot enter its folder.
// S2  A path from a file is used only if it passes `controlSocketProblem`: it cannot lead to the socket of another program.
import { chmodSync, lstatSync, mkdtempSync, rmdirSync, rmSync, type Stats } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

const FILE = 'control.sock';
const FOLDER = /^svc-[A-Za-z0-9]{6}$/;
/** Maximum length of the path of a socket, in bytes. It is the smallest of the systems that have such sockets. */
const PATH_BYTES_MAX = 103;
/** Used if the path of the configured folder is too long. */
const SHORT_FOLDER = '/tmp';

/**
 * Makes the folder of a socket, and returns the path to listen on. Returns undefined on a system without users (Windows).
 * Throws errors of the file system.
 */
export function makeControlSocket(): string | undefined {
  if (process.getuid === undefined) return undefined;
  const wanted = join(tmpdir(), 'svc-XXXXXX', FILE);
  const parent = Buffer.byteLength(wanted) <= PATH_BYTES_MAX ? tmpdir() : SHORT_FOLDER;
  const folder = mkdtempSync(join(resolve(parent), 'svc-'));
  chmodSync(folder, 0o700);
  return join(folder, FILE);
}

/** Returns why a path from a file is not used as that of a control socket; undefined: it is one of this user. */
export function controlSocketProblem(path: string): string | undefined {
  const folder = dirname(path);
  if (resolve(path) !== path || basename(path) !== FILE || !FOLDER.test(basename(folder)))
    return 'it is not the path of a control socket';
  try {
    const [entered, socket] = [lstatSync(folder), lstatSync(path)];
    if (!entered.isDirectory() || !socket.isSocket()) return 'it is not a socket';
    if ((entered.mode & 0o077) !== 0) return 'other users can reach it';
    if (!isOwn(entered) || !isOwn(socket)) return 'it belongs to another user';
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'it does not exist here' : `it cannot be reached (${code})`;
  }
}

/** Removes a socket and its folder, if they are there and belong to this user. Never throws. */
export function removeControlSocket(path: string): void {
  const folder = dirname(path);
  if (basename(path) !== FILE || !FOLDER.test(basename(folder))) return;
  try {
    if (!isOwn(lstatSync(folder))) return;
    rmSync(path, { force: true });
    rmdirSync(folder);
  } catch {
    // It is gone, or something else is in the folder.
  }
}

/** The superuser may use the socket of every user. */
function isOwn({ uid }: Stats): boolean {
  const user = process.getuid?.();
  return user !== undefined && (user === 0 || user === uid);
}
