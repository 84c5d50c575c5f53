// Authority: one certificate authority of the installation: it is made once, kept on disk, and issues certificates.
//
// Invariants
// A1  An authority that was published is never replaced unless the operator asks for it: those who trust it would refuse everything else.
// A2  Its file is on disk before anything that it has issued is.
import { randomBytes, X509Certificate } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import {
  AUTHORITY_FILE_MODE,
  type AuthorityKind,
  type FormerAuthority,
  isAuthorityCertificate,
  type NoAuthority,
  readAuthorityFile,
  type StoredAuthority,
} from './authority-file.ts';
import {
  type IssuedPair,
  issueLeaf,
  type LeafContents,
  newAuthority,
} from './certificate-issuer.ts';
import type { IdentityAuthority } from './identity-authority.ts';
import { type carryOut, fileSteps, unfinishedFile } from './file-steps.ts';
import { AUTHORITY_WARNED_MS, authorityValidity, leafValidity } from './leaf-renewal.ts';

export interface AuthorityOptions {
  readonly file: string;
  readonly kind: AuthorityKind;
  /** Base domain, without a port. */
  readonly domain: string;
  /** Text with the certificates of authorities that others have been given to trust; empty: there was none. */
  readonly published: string;
  /** True: the operator asks for another authority. */
  readonly isNew: boolean;
  /** Those who trust the authority, and how the operator asks for another one, for messages. */
  readonly words: { readonly trustedBy: string; readonly asking: string };
  /** Lifetime of the certificates that it issues, in milliseconds. */
  readonly lifetimeMs: number;
  /** Time in which all programs take another authority into use before certificates of it are shown to them, in milliseconds. */
  readonly settleMs: number;
  readonly nowMs: number;
  readonly log: Log;
  readonly carryOut: typeof carryOut;
}

/** Former authorities that are remembered. */
const FORMER_MAX = 4;
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\r?\n?/g;

export class Authority implements IdentityAuthority {
  readonly #stored: StoredAuthority;
  readonly #certificate: X509Certificate;
  /** Whether a certificate was issued by this authority, which is verified once. */
  readonly #issued = new WeakMap<X509Certificate, boolean>();
  readonly #times: Pick<AuthorityOptions, 'lifetimeMs' | 'settleMs'>;

  private constructor(
    stored: StoredAuthority,
    times: Pick<AuthorityOptions, 'lifetimeMs' | 'settleMs'>,
  ) {
    this.#stored = stored;
    this.#certificate = new X509Certificate(stored.certificate);
    this.#times = times;
  }

  /**
   * Reads the authority, or makes it. Rejects with SVC_AUTHORITY_LOST if others trust one whose file is gone, with SVC_AUTHORITY_UNUSABLE if
   * the file cannot be used, and with the file system's error.
   */
  static async open(options: AuthorityOptions): Promise<Authority> {
    const { file, kind, domain, nowMs, published, isNew, settleMs, log } = options;
    // A replacement that was cut off: its key is not left on the disk.
    rmSync(unfinishedFile(file), { force: true });
    const read = readAuthorityFile(file, kind, domain, nowMs);
    if (read.kind === 'usable' && (!isNew || isFresh(read.stored, settleMs, nowMs))) {
      const authority = new Authority(read.stored, options);
      authority.#warnOfExpiry(options);
      return authority;
    }
    const isFirst = read.kind === 'missing' && published === '';
    if (!isFirst && !isNew && read.kind !== 'usable') throw refusal(options, read);
    const former = formerOf(options, read.kind === 'usable' ? read.stored : undefined);
    const stored = await newStored(options, former);
    options.carryOut(fileSteps(file, `${JSON.stringify(stored)}\n`, AUTHORITY_FILE_MODE));
    log({
      level: isFirst ? 'info' : 'warn',
      message: isFirst ? 'An authority was made' : 'An authority was replaced by another one',
      fields: { kind, domain, file },
    });
    return new Authority(stored, options);
  }

  /** Its certificate in PEM. */
  get certificate(): string {
    return this.#stored.certificate;
  }

  get endsAtMs(): number {
    return this.#certificate.validToDate.getTime();
  }

  /** The certificates to trust in PEM: its own, and those of authorities before it whose certificates are still in use. */
  trusted(nowMs: number): string {
    const former = this.#stored.former.filter(({ trustedUntilMs }) => nowMs < trustedUntilMs);
    return [this.certificate, ...former.map(({ certificate }) => certificate)].join('');
  }

  changesAtMs(nowMs: number): number {
    const { createdAtMs, former } = this.#stored;
    const times = [
      createdAtMs + this.#times.settleMs,
      ...former.map(({ trustedUntilMs }) => trustedUntilMs),
    ];
    return Math.min(...times.filter((ms) => ms > nowMs));
  }

  async issue(names: LeafContents['names'], nowMs: number): Promise<IssuedPair> {
    const validity = leafValidity(nowMs, this.#times.lifetimeMs, this.#certificate);
    return await issueLeaf(this.#stored, { names, validity });
  }

  isSuccessorOf(leaf: X509Certificate, nowMs: number): boolean {
    if (this.#hasIssued(leaf)) return false;
    const isTrusted = this.#stored.former.some(
      ({ certificate, trustedUntilMs }) =>
        nowMs < trustedUntilMs && hasIssued(new X509Certificate(certificate), leaf),
    );
    return !isTrusted || !isFresh(this.#stored, this.#times.settleMs, nowMs);
  }

  #hasIssued(leaf: X509Certificate): boolean {
    let known = this.#issued.get(leaf);
    if (known === undefined) this.#issued.set(leaf, (known = hasIssued(this.#certificate, leaf)));
    return known;
  }

  #warnOfExpiry({ kind, file, nowMs, log, words }: AuthorityOptions): void {
    const { validToDate } = this.#certificate;
    if (validToDate.getTime() - nowMs > AUTHORITY_WARNED_MS) return;
    log({
      level: 'warn',
      message: `An authority expires: replace it with ${words.asking} before`,
      fields: { kind, file, expiresAt: validToDate.toISOString() },
    });
  }
}

/** An authority that was made just now is not replaced again: a control plane that is started in a loop would leave nobody a known one. */
function isFresh({ createdAtMs }: StoredAuthority, settleMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - createdAtMs) < settleMs;
}

export function hasIssued(authority: X509Certificate, leaf: X509Certificate): boolean {
  return leaf.checkIssued(authority) && leaf.verify(authority.publicKey);
}

async function newStored(
  { kind, domain, nowMs }: AuthorityOptions,
  former: readonly FormerAuthority[],
): Promise<StoredAuthority> {
  const pair = await newAuthority({
    name: `svc ${kind} ${randomBytes(4).toString('hex')}`,
    permittedDomain: kind === 'hostnames' ? domain : undefined,
    validity: authorityValidity(nowMs),
  });
  return { version: 1, kind, domain, createdAtMs: nowMs, former, ...pair };
}

/** Programs may show certificates of former authorities for as long as such a certificate lasts. */
function formerOf(
  { published, nowMs, lifetimeMs, kind }: AuthorityOptions,
  replaced: StoredAuthority | undefined,
): readonly FormerAuthority[] {
  // The gateway shows certificates of the new authority at once, so the former one is of no use to its clients.
  if (kind === 'hostnames') return [];
  const before = replaced?.former.filter(({ trustedUntilMs }) => nowMs < trustedUntilMs) ?? [];
  const known = new Set(before.map(({ certificate }) => certificate));
  const certificates = [...(published.match(PEM) ?? [])].map((text) => `${text.trimEnd()}\n`);
  if (replaced !== undefined) certificates.unshift(replaced.certificate);
  const added = [...new Set(certificates)].filter(
    (text) => !known.has(text) && isAuthorityCertificate(text),
  );
  const trustedUntilMs = nowMs + lifetimeMs;
  return [...added.map((certificate) => ({ certificate, trustedUntilMs })), ...before].slice(
    0,
    FORMER_MAX,
  );
}

function refusal({ file, words }: AuthorityOptions, read: NoAuthority): SvcError {
  const { trustedBy: whose, asking } = words;
  const remedy = `Restore the file from a backup, or start with ${asking}, which makes another authority.`;
  return read.kind === 'missing'
    ? new SvcError(
        'SVC_AUTHORITY_LOST',
        `The authority that ${whose} trust is gone: there is no file ${file}. ${remedy}`,
      )
    : new SvcError(
        'SVC_AUTHORITY_UNUSABLE',
        `The authority that ${whose} trust cannot be used: ${file} ${read.problem}. ${remedy}`,
      );
}
