// GivenAuthority: an authority for identities whose key and certificate somebody else writes, such as a secret that is mounted in Kubernetes. The
// files are `tls.crt`, `tls.key` and, if others are to be trusted beside it, `ca.crt`. They are read again while the process runs.
//
// Invariants
// G1  Files that cannot be used leave the authority before in use.
// G2  An authority that was taken into use issues nothing that its own certificate does not verify.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificatesOf } from '@svc/identity/certificates';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import { hasIssued } from './authority.ts';
import { canSign, type IssuedPair, issueLeaf } from './certificate-issuer.ts';
import type { IdentityAuthority } from './identity-authority.ts';
import { AUTHORITY_LEFT_MS_MIN, leafValidity } from './leaf-renewal.ts';

export interface GivenAuthorityOptions {
  /** Absolute path of the folder with the files. */
  readonly folder: string;
  /** Lifetime of the certificates that it issues, in milliseconds. */
  readonly lifetimeMs: number;
  /** Time in which all programs trust another authority before certificates of it are shown to them, in milliseconds. */
  readonly settleMs: number;
  readonly clock: { nowMs(): number };
  readonly log: Log;
}

interface Used {
  readonly texts: GivenTexts;
  readonly certificate: X509Certificate;
  /** The certificates between those that it issues and the trusted ones, in PEM; empty: it is trusted itself. */
  readonly chain: string;
  readonly trusted: readonly X509Certificate[];
  /** The time at which this process took the certificate into use, in milliseconds since 1970. */
  readonly sinceMs: number;
}

interface GivenTexts {
  readonly certificate: string;
  readonly key: string;
  /** Undefined: there is no such file. */
  readonly authorities: string | undefined;
}

/** Files that cannot be used, worded to follow the name of the folder. */
interface Unusable {
  readonly problem: string;
}

const FILE_BYTES_MAX = 1024 * 1024;
/** Trusted authorities, each of which every service gets. */
const TRUSTED_MAX = 16;
const TRIAL = { uri: 'spiffe://trial/identity' };

export class GivenAuthority implements IdentityAuthority {
  readonly #options: GivenAuthorityOptions;
  #used: Used;
  /** Why the files could not be used at the last refresh, so that each reason is logged once. */
  #problem: string | undefined;
  #hasWarned = false;

  private constructor(options: GivenAuthorityOptions, used: Used) {
    this.#options = options;
    this.#used = used;
    this.#warnOfExpiry();
  }

  /** Rejects with SVC_AUTHORITY_UNUSABLE if the files are missing or cannot be used. */
  static async open(options: GivenAuthorityOptions): Promise<GivenAuthority> {
    const { folder, clock } = options;
    const texts = textsIn(folder);
    const used = 'problem' in texts ? texts : await usable(texts, clock.nowMs());
    if ('problem' in used)
      throw new SvcError(
        'SVC_AUTHORITY_UNUSABLE',
        `The authority for the identities of services cannot be used: ${folder} ${used.problem}. The operator has to put tls.crt and tls.key of a certificate authority there.`,
      );
    return new GivenAuthority(options, used);
  }

  get certificate(): string {
    return textOf(this.#used.certificate);
  }

  get endsAtMs(): number {
    return this.#used.certificate.validToDate.getTime();
  }

  trusted(): string {
    return this.#used.trusted.map(textOf).join('');
  }

  /** Returns false while what certificates are issued is the same. Reads the files, and takes changed ones into use. Never rejects. */
  async refresh(): Promise<boolean> {
    const { folder, clock, log } = this.#options;
    const texts = textsIn(folder);
    if (!('problem' in texts) && areEqual(texts, this.#used.texts)) {
      this.#problem = undefined;
      this.#warnOfExpiry();
      return false;
    }
    const used = 'problem' in texts ? texts : await usable(texts, clock.nowMs());
    if ('problem' in used) {
      if (used.problem !== this.#problem)
        log({
          level: 'error',
          message: `Another authority cannot be used: ${folder} ${used.problem}. The previous one remains in use`,
        });
      this.#problem = used.problem;
      return false;
    }
    this.#take(used);
    return true;
  }

  async issue(names: { readonly uri: string }, nowMs: number): Promise<IssuedPair> {
    const { texts, certificate, chain } = this.#used;
    const validity = leafValidity(nowMs, this.#options.lifetimeMs, certificate);
    const pair = await issueLeaf(pairOf(texts, certificate), { names, validity });
    return { ...pair, certificate: `${pair.certificate}${chain}` };
  }

  isSuccessorOf(leaf: X509Certificate, nowMs: number): boolean {
    const { certificate, trusted, sinceMs } = this.#used;
    if (hasIssued(certificate, leaf)) return false;
    const isTrusted = trusted.some((authority) => hasIssued(authority, leaf));
    return !isTrusted || Math.abs(nowMs - sinceMs) >= this.#options.settleMs;
  }

  changesAtMs(nowMs: number): number {
    const settledMs = this.#used.sinceMs + this.#options.settleMs;
    return settledMs > nowMs ? settledMs : Infinity;
  }

  #take(used: Used): void {
    const before = this.#used;
    const isSame = before.certificate.fingerprint256 === used.certificate.fingerprint256;
    this.#used = isSame ? { ...used, sinceMs: before.sinceMs } : used;
    this.#problem = undefined;
    this.#hasWarned = false;
    const isTrustedStill = [before.certificate, ...before.trusted].some((former) =>
      used.trusted.some(({ fingerprint256 }) => fingerprint256 === former.fingerprint256),
    );
    this.#options.log({
      level: isTrustedStill ? 'info' : 'warn',
      message: isTrustedStill
        ? 'The authority for identities has changed'
        : 'The authority for identities was replaced, and ca.crt does not have the former one: services refuse one another until all have their new certificates',
      fields: { folder: this.#options.folder },
    });
    this.#warnOfExpiry();
  }

  #warnOfExpiry(): void {
    const { folder, clock, log } = this.#options;
    if (this.#hasWarned || this.endsAtMs - clock.nowMs() > AUTHORITY_LEFT_MS_MIN) return;
    this.#hasWarned = true;
    log({
      level: 'warn',
      message: 'The authority for identities expires: replace it before',
      fields: { folder, expiresAt: new Date(this.endsAtMs).toISOString() },
    });
  }
}

function textsIn(folder: string): GivenTexts | Unusable {
  const [certificate, key, authorities] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) =>
    textIn(join(folder, name)),
  );
  if (typeof certificate !== 'string') return { problem: `has no tls.crt (${certificate!.code})` };
  if (typeof key !== 'string') return { problem: `has no tls.key (${key!.code})` };
  if (typeof authorities === 'string') return { certificate, key, authorities };
  return authorities!.code === 'ENOENT'
    ? { certificate, key, authorities: undefined }
    : { problem: `has a ca.crt that cannot be read (${authorities!.code})` };
}

/** Returns the content of a file, or the code of the error. Others may read it: a mounted secret belongs to a group. */
function textIn(path: string): string | { readonly code: string } {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? 'unreadable' };
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return { code: 'no file' };
    return stats.size > FILE_BYTES_MAX ? { code: 'too large' } : readFileSync(file, 'utf8');
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? 'unreadable' };
  } finally {
    closeSync(file);
  }
}

async function usable(texts: GivenTexts, nowMs: number): Promise<Used | Unusable> {
  const [certificate, ...intermediate] = certificatesOf(texts.certificate) ?? [];
  if (certificate === undefined)
    return { problem: 'has a tls.crt without a certificate, or with one that is unreadable' };
  if (!certificate.ca)
    return { problem: 'has a tls.crt that is not of a certificate authority, which has CA:TRUE' };
  const others = texts.authorities === undefined ? [] : certificatesOf(texts.authorities);
  if (others === undefined || !others.every(({ ca }) => ca))
    return { problem: 'has a ca.crt with something else than certificates of authorities' };
  const problem = keyProblem(texts.key, certificate) ?? dateProblem(certificate, nowMs);
  if (problem !== undefined) return { problem };
  const isRoot = hasIssued(certificate, certificate);
  const trusted = distinct(isRoot ? [...others, certificate] : others);
  if (trusted.length > TRUSTED_MAX)
    return { problem: `has a ca.crt with more than ${TRUSTED_MAX} authorities` };
  const chain = isRoot ? [] : [certificate, ...intermediate];
  const last = intermediate.at(-1) ?? certificate;
  if (!isRoot && !trusted.some((authority) => hasIssued(authority, last)))
    return { problem: 'has a tls.crt that no authority of ca.crt has issued' };
  const issues = await canIssue(texts, certificate, nowMs);
  if (!issues)
    return { problem: 'has a tls.crt and a tls.key whose certificates cannot be verified' };
  return { texts, certificate, chain: chain.map(textOf).join(''), trusted, sinceMs: nowMs };
}

function keyProblem(text: string, certificate: X509Certificate): string | undefined {
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch {
    return 'has a tls.key without a private key that is readable';
  }
  if (!certificate.checkPrivateKey(key))
    return 'has a tls.key that does not belong to the certificate of tls.crt';
  return canSign(key)
    ? undefined
    : 'has a tls.key that is neither RSA nor of P-256, P-384 or P-521';
}

function dateProblem(
  { validFromDate: from, validToDate: to }: X509Certificate,
  nowMs: number,
): string | undefined {
  if (nowMs < from.getTime())
    return `has a tls.crt that is valid only from ${from.toISOString()} on`;
  return nowMs >= to.getTime() ? `has a tls.crt that expired at ${to.toISOString()}` : undefined;
}

async function canIssue(
  texts: GivenTexts,
  certificate: X509Certificate,
  nowMs: number,
): Promise<boolean> {
  const validity = leafValidity(nowMs, 0, certificate);
  try {
    const trial = await issueLeaf(pairOf(texts, certificate), { names: TRIAL, validity });
    return hasIssued(certificate, new X509Certificate(trial.certificate));
  } catch {
    return false;
  }
}

function pairOf({ key }: GivenTexts, certificate: X509Certificate): IssuedPair {
  return { key, certificate: textOf(certificate) };
}

function distinct(all: readonly X509Certificate[]): readonly X509Certificate[] {
  return [...new Map(all.map((one) => [one.fingerprint256, one])).values()];
}

function textOf(certificate: X509Certificate): string {
  return `${certificate.toString().trimEnd()}\n`;
}

function areEqual(one: GivenTexts, other: GivenTexts): boolean {
  return (
    one.certificate === other.certificate &&
    one.key === other.key &&
    one.authorities === other.authorities
  );
}
