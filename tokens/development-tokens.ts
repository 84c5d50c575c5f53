// DevelopmentTokens: access tokens that a developer makes without an identity provider, for services of the own machine that accept
// them. The key lies in a file of the user, and whoever can read it can be any caller of these services.
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { makeFolder } from '@svc/kit/durable-file';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  SignJWT,
} from 'jose';
import { SvcError } from '@svc/kit/svc-error';
import type { AcceptedIssuer } from './accepted-issuers.ts';
import type { Fetch } from './provider-document.ts';

/** The caller that a token names, and its grants. */
export interface DevelopmentCaller {
  readonly subject: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** Further claims. Those of the protocol, such as `iss` and `exp`, are not replaced; roles and scopes are, if there are any. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly lifetimeMs: number;
}

/** The reserved domain leads to no other machine (RFC 6761), and nothing listens there: the keys come from the file. */
const ISSUER = 'https://development-tokens.svc.localhost';
const AUDIENCE = 'svc-development';
const KEYS_URL = `${ISSUER}/keys`;
const ALG = 'ES256';
const MS_PER_SECOND = 1_000;
/** Bits of a mode. */
const RIGHTS = 0o777;
const RIGHTS_OF_OTHERS = 0o077;

/** The issuer of these tokens, as a service accepts it. */
export const DEVELOPMENT_ISSUER: AcceptedIssuer = {
  issuer: ISSUER,
  audiences: [AUDIENCE],
  rolesPath: ['roles'],
  scopesPath: ['scope'],
};

/** Returns a token that services accept which read the key from the same file. */
export async function developmentToken(
  file: string,
  { subject, roles, scopes, claims, lifetimeMs }: DevelopmentCaller,
  nowMs: number,
): Promise<string> {
  const key = await developmentKey(file);
  const nowS = Math.floor(nowMs / MS_PER_SECOND);
  const all = {
    ...claims,
    ...(roles.length === 0 ? {} : { roles }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  };
  return await new SignJWT(all)
    .setProtectedHeader({ alg: ALG, kid: key.kid!, typ: 'at+jwt' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(subject)
    .setIssuedAt(nowS)
    .setExpirationTime(nowS + Math.ceil(lifetimeMs / MS_PER_SECOND))
    .sign(await importJWK(key, ALG));
}

/**
 * Makes the key if there is none. Throws SVC_SETTING_INVALID if it cannot be used, which is better said at the start of a service
 * than to each caller.
 */
export async function ensureDevelopmentKey(file: string): Promise<void> {
  await developmentKey(file);
}

/** Answers in place of an identity provider, with the key in the file. */
export function developmentProvider(file: string): Fetch {
  return async (input) => {
    const url = input instanceof Request ? input.url : String(input);
    if (url !== KEYS_URL) return Response.json({ issuer: ISSUER, jwks_uri: KEYS_URL });
    const { d: _secret, ...published } = await developmentKey(file);
    return Response.json({ keys: [published] });
  };
}

async function developmentKey(file: string): Promise<JWK> {
  try {
    return await storedKey(file);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `The key of development tokens cannot be read from ${file}, or not be made there: ${code}.`,
    );
  }
}

/** Reads the key, and makes it if there is none. Of two programs that make it at once, one does. */
async function storedKey(file: string): Promise<JWK> {
  const known = await readKey(file);
  if (known !== undefined) return known;
  const { privateKey } = await generateKeyPair(ALG, { extractable: true });
  const key = { ...(await exportJWK(privateKey)), alg: ALG, use: 'sig' };
  const text = JSON.stringify({ ...key, kid: await calculateJwkThumbprint(key) });
  await makeFolder(dirname(file));
  const part = `${file}.${randomUUID()}.part`;
  const handle = await open(part, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await link(part, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await handle.close();
    await rm(part, { force: true });
  }
  return (await readKey(file))!;
}

/** Returns undefined if there is no file. */
async function readKey(file: string): Promise<JWK | undefined> {
  const text = await privateText(file);
  if (text === undefined) return undefined;
  try {
    const key = JSON.parse(text) as JWK;
    await importJWK(key, ALG);
    if (typeof key.kid === 'string' && typeof key.d === 'string') return key;
  } catch {
    // The error of the parser would show a part of the key.
  }
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `${file} is no key of development tokens. Delete it: a new one is made, and tokens of the former one count no more in services that start from then on.`,
  );
}

/** Returns undefined if there is no file. Throws SVC_SETTING_INVALID if others than its owner can read or change it. */
async function privateText(file: string): Promise<string | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const mode = (await handle.stat()).mode & RIGHTS;
    // Windows has no such rights.
    if (process.platform === 'win32' || (mode & RIGHTS_OF_OTHERS) === 0)
      return await handle.readFile('utf8');
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `${file} is open to other users of this machine (its mode is ${mode.toString(8)}): whoever reads this key can be any caller. Delete the file, and start again the services that use it. If nobody has read it, chmod 600 is enough.`,
    );
  } finally {
    await handle.close();
  }
}
