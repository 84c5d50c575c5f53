// StoredLogin: the tokens of one installation, in a file of their own below the state folder.
//
// Invariants: a login is found by the URL that it was got for, and by no other. The file has mode 0600; one that others can read is
// not used. Whoever replaces the tokens has the lock.
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from '../command.ts';
import { isRecord } from './contexts.ts';
import { withFileLock } from './file-lock.ts';
import { readPrivateFile, writePrivateFile } from './private-file.ts';
import type { Target } from './target.ts';

export interface StoredLogin {
  readonly url: string;
  /** The identity provider's, as the control plane named it at the login. */
  readonly issuer: string;
  readonly clientId: string;
  readonly audience: string;
  readonly accessToken: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
  readonly refreshToken?: string;
}

type LoginOwner = Pick<Target, 'url' | 'folders'>;

/** How long a command waits for another one that is getting tokens, in milliseconds. */
const LOCK_WAIT_MS = 30_000;
const TEXTS = ['issuer', 'clientId', 'audience', 'accessToken'] as const;
const TOKEN = /^[\x21-\x7e]+$/;

/** Reads the login of a URL. Throws SVC_NOT_LOGGED_IN if there is none that can be used. */
export function readLogin({ url, folders }: LoginOwner): StoredLogin {
  const path = loginPath({ url, folders });
  const found = orFailure(path, () => readPrivateFile(path));
  if (found === undefined)
    throw notLoggedIn(`You are not logged in to ${url}. Log in with svc login.`);
  if (found.isShared)
    throw notLoggedIn(
      `Others than you may read or change ${path}, so the login in it is not used. Delete the file, and log in with svc login.`,
    );
  const { value } = found;
  if (!isLogin(value) || value.url !== url)
    throw notLoggedIn(`${path} is not a login for ${url}. Log in again with svc login.`);
  return value;
}

/** Stores a login. The caller has the lock. Throws SVC_LOGIN_FAILED. */
export function writeLogin(login: StoredLogin, folders: LoginOwner['folders']): void {
  const path = loginPath({ url: login.url, folders });
  orFailure(path, () => writePrivateFile(path, { version: 1, ...login }));
}

/** Deletes the login of a URL, if there is one. The caller has the lock. Throws SVC_LOGIN_FAILED. */
export function deleteLogin(owner: LoginOwner): void {
  const path = loginPath(owner);
  orFailure(path, () => rmSync(path, { force: true }));
}

/** Runs `work` while no other command replaces the tokens of the URL. Rejects with SVC_LOGIN_FAILED if that takes too long. */
export function withLoginLock<Value>(
  owner: LoginOwner,
  work: () => Promise<Value> | Value,
): Promise<Value> {
  const path = loginPath(owner);
  const late = () =>
    new CommandFailure(
      'SVC_LOGIN_FAILED',
      `Another command has been getting tokens for ${owner.url} for ${LOCK_WAIT_MS / 1000} s. End it, and try again.`,
    );
  return withFileLock(`${path}.lock`, { waitMsMax: LOCK_WAIT_MS, late }, work);
}

export function notLoggedIn(message: string): CommandFailure {
  return new CommandFailure('SVC_NOT_LOGGED_IN', message);
}

/** Returns the path of the login of a URL, whose characters are not all allowed in names of files. */
function loginPath({ url, folders }: LoginOwner): string {
  const name = createHash('sha256').update(url).digest('hex').slice(0, 32);
  return join(folders.state, 'logins', `${name}.json`);
}

function isLogin(value: unknown): value is StoredLogin {
  return (
    isRecord(value) &&
    value['version'] === 1 &&
    typeof value['url'] === 'string' &&
    TEXTS.every((name) => typeof value[name] === 'string') &&
    TOKEN.test(value['accessToken'] as string) &&
    Number.isFinite(value['expiresAtMs']) &&
    (value['refreshToken'] === undefined || typeof value['refreshToken'] === 'string')
  );
}

function orFailure<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandFailure(
      'SVC_LOGIN_FAILED',
      `The login in ${path} cannot be read or stored (${code}). Check the folder and your permissions.`,
      { cause: error },
    );
  }
}
