// KeptKeys: the keys of the login provider in its folder, so that tokens and sessions of before a restart remain good.
//
// Invariants
// - The folder is accessible to its user only, and so is the file.
// - The file is complete or absent. Of two processes that create it at the same time one wins, and both use its keys.
import { SvcError } from '@svc/kit/svc-error';
import { generateKeyPairSync, randomBytes, type webcrypto } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface KeptKeys {
  /** Private key in JWK (P-256) with which tokens are signed. */
  readonly signing: webcrypto.JsonWebKey & { readonly kid: string };
  /** Key with which cookies and forms are authenticated: 43 characters. */
  readonly cookie: string;
}

export const SIGNING_ALGORITHM = 'ES256';
const FILE = 'keys.json';
const VERSION = 1;
const COOKIE_KEY_BYTES = 32;
/** Permission bits of everybody but the user. */
const OTHERS = 0o077;

/** Reads the keys, and creates them if there are none. Throws SVC_DATA_UNUSABLE. */
export function keptKeys(folder: string): KeptKeys {
  const file = join(folder, FILE);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    checkPrivate(folder, '700');
    const text = textOf(file) ?? created(file);
    checkPrivate(file, '600');
    return parsed(file, text);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SvcError(
      'SVC_DATA_UNUSABLE',
      `The folder ${folder} cannot be used for the keys of the login provider (${code ?? message}). ` +
        'Choose another one with --data, or give this user the permission to read and write it.',
      { cause: error },
    );
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the text of the file, which may be another process's. */
function created(file: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomBytes(8).toString('hex');
  const keys: KeptKeys & { readonly version: number } = {
    version: VERSION,
    signing: { ...privateKey.export({ format: 'jwk' }), kid, alg: SIGNING_ALGORITHM, use: 'sig' },
    cookie: randomBytes(COOKIE_KEY_BYTES).toString('base64url'),
  };
  const temporary = `${file}.${process.pid}.${kid}`;
  try {
    writeFileSync(temporary, JSON.stringify(keys), { mode: 0o600, flag: 'wx', flush: true });
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readFileSync(file, 'utf8');
}

function checkPrivate(path: string, mode: string): void {
  if (process.platform === 'win32' || (statSync(path).mode & OTHERS) === 0) return;
  throw new SvcError(
    'SVC_DATA_UNUSABLE',
    `${path} is accessible to other users, who could sign tokens with the keys of the login provider. Run: chmod ${mode} ${path}`,
  );
}

function parsed(file: string, text: string): KeptKeys {
  const { version, signing, cookie } = jsonOf(text) ?? {};
  const isComplete =
    version === VERSION &&
    signing?.kty === 'EC' &&
    [signing.kid, signing.x, signing.y, signing.d, cookie].every((one) => typeof one === 'string');
  if (isComplete) return { signing, cookie: cookie! };
  throw new SvcError(
    'SVC_DATA_UNUSABLE',
    `${file} does not contain keys of a login provider of this version. Remove the file: new keys are created, and everybody logs in again.`,
  );
}

type Unchecked = Partial<KeptKeys> & { readonly version?: unknown };

/** Returns an object; undefined if the text is none. */
function jsonOf(text: string): Unchecked | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
