// AuthorityFile: an authority on disk: its key, its certificate, and the authorities before it that are still trusted, in one file that is
// replaced as a whole. So there is never a key without its certificate.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { AUTHORITY_LEFT_MS_MIN } from './leaf-renewal.ts';
import type { IssuedPair } from './certificate-issuer.ts';

/** `identities`: of programs of the installation. `hostnames`: of the gateway's server certificates. */
export type AuthorityKind = 'identities' | 'hostnames';

export interface FormerAuthority {
  readonly certificate: string;
  /** Milliseconds since 1970. */
  readonly trustedUntilMs: number;
}

export interface StoredAuthority extends IssuedPair {
  readonly version: 1;
  readonly kind: AuthorityKind;
  /** Base domain, without a port. */
  readonly domain: string;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
  readonly former: readonly FormerAuthority[];
}

/** Why there is no authority. `problem` is worded to follow the name of the file. */
export type NoAuthority =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unusable'; readonly problem: string };

export type ReadAuthority = { readonly kind: 'usable'; readonly stored: StoredAuthority };

/** Mode of the file: nobody but its owner may read the key. */
export const AUTHORITY_FILE_MODE = 0o600;
const FILE_BYTES_MAX = 1024 * 1024;

/** Reads an authority, which has to be of the kind and the domain. */
export function readAuthorityFile(
  path: string,
  kind: AuthorityKind,
  domain: string,
  nowMs: number,
): ReadAuthority | NoAuthority {
  const read = readSecretFile(path);
  if (typeof read !== 'string') return read;
  const stored = storedIn(read);
  const problem = stored === undefined ? 'is torn, or no authority' : problemOf(stored);
  return problem === undefined
    ? { kind: 'usable', stored: stored! }
    : { kind: 'unusable', problem };

  function problemOf(found: StoredAuthority): string | undefined {
    if (found.kind !== kind) return `is of an authority for ${found.kind}`;
    if (found.domain !== domain) return `is of the domain ${found.domain}, and not of ${domain}`;
    return pairProblem(found, nowMs);
  }
}

function readSecretFile(path: string): string | NoAuthority {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'missing' };
    return { kind: 'unusable', problem: `cannot be read (${code})` };
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > FILE_BYTES_MAX)
      return { kind: 'unusable', problem: 'is no file of an authority' };
    if ((stats.mode & 0o077) !== 0)
      return {
        kind: 'unusable',
        problem: 'may be read by other users, so its key may be in other hands',
      };
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function storedIn(text: string): StoredAuthority | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || value['version'] !== 1) return undefined;
  const { kind, domain, key, certificate, createdAtMs, former } = value;
  const texts = [kind, domain, key, certificate];
  if (!texts.every((one) => typeof one === 'string') || typeof createdAtMs !== 'number')
    return undefined;
  return Array.isArray(former) && former.every(isFormer)
    ? (value as unknown as StoredAuthority)
    : undefined;
}

function pairProblem({ certificate, key }: StoredAuthority, nowMs: number): string | undefined {
  try {
    const parsed = new X509Certificate(certificate);
    if (!parsed.ca || !parsed.checkPrivateKey(createPrivateKey(key)))
      return 'has a key that is not of its certificate';
    const { validFromDate: from, validToDate: to } = parsed;
    if (nowMs < from.getTime()) return `is valid only from ${from.toISOString()} on`;
    if (to.getTime() - nowMs < AUTHORITY_LEFT_MS_MIN)
      return `expires at ${to.toISOString()}, too soon to issue certificates`;
    return undefined;
  } catch {
    return 'has a certificate or a key that is unreadable';
  }
}

function isFormer(value: unknown): value is FormerAuthority {
  return (
    isRecord(value) &&
    typeof value['certificate'] === 'string' &&
    typeof value['trustedUntilMs'] === 'number' &&
    isAuthorityCertificate(value['certificate'])
  );
}

/** Returns whether the text is one certificate of an authority in PEM. */
export function isAuthorityCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).ca;
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
