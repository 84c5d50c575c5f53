// HostCertificates: the certificates of a folder, `NAME.crt` with `NAME.key`, each for the hostnames that it names. The one called `default`
// stands in for hostnames of which there is none. New files are taken into use.
//
// Invariant: files that cannot be used leave those before of the same name in use, and are logged once for each reason.
import { readdir } from 'node:fs/promises';
import { expiryEntry, expiryStage } from '@svc/identity/certificate-expiry';
import { WatchedFolder } from '@svc/identity/watched-folder';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import { coveringNames } from './certificate-names.ts';
import { type HostCertificate, readHostCertificate } from './host-certificate.ts';

export interface HostCertificatesOptions {
  readonly log: Log;
  /** Certificates that are read; further ones are left out. */
  readonly certificatesMax: number;
  /** Pause in milliseconds between two reads of the folder. */
  readonly pollMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const DEFAULT_NAME = 'default';

export class HostCertificates {
  readonly #folder: WatchedFolder;
  readonly #options: HostCertificatesOptions;
  readonly #now: () => number;
  readonly #listeners: (() => void)[] = [];
  /** Indexed by the name of their files. */
  #inUse: ReadonlyMap<string, HostCertificate> = new Map();
  /** Indexed by hostname and wildcard. */
  #byHostname: ReadonlyMap<string, HostCertificate> = new Map();
  /** Reason that was logged last, by the name of files. */
  readonly #refused = new Map<string, string>();
  readonly #expiryStages = new WeakMap<HostCertificate, number>();

  private constructor(folder: string, options: HostCertificatesOptions) {
    this.#folder = new WatchedFolder(folder, {
      look: () => this.#look(),
      pollMs: options.pollMs,
    });
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Reads the folder and watches it. Rejects with SVC_CERTIFICATE_MISSING if it has no certificate that can be used. */
  static async open(folder: string, options: HostCertificatesOptions): Promise<HostCertificates> {
    const opened = new HostCertificates(folder, options);
    await opened.check();
    if (opened.#inUse.size > 0) return opened;
    opened.close();
    const [reason] = opened.#refused.values();
    throw new SvcError(
      'SVC_CERTIFICATE_MISSING',
      `The folder ${folder} has no certificate that can be used${reason === undefined ? '.' : `: ${reason}`} Put NAME.crt and NAME.key there, and default.crt with default.key for clients without a server name.`,
    );
  }

  /** The certificate for clients that send no server name; undefined: there is none. */
  get fallback(): HostCertificate | undefined {
    return this.#inUse.get(DEFAULT_NAME);
  }

  /** Returns the certificate by which a connection with the server name is served; undefined: there is none. */
  find(hostname: string | undefined): HostCertificate | undefined {
    return (hostname === undefined ? undefined : this.covering(hostname)) ?? this.fallback;
  }

  /** Returns the certificate that covers the hostname; undefined: none does. */
  covering(hostname: string): HostCertificate | undefined {
    const [own, wildcard] = coveringNames(hostname);
    return this.#byHostname.get(own) ?? this.#byHostname.get(wildcard);
  }

  /** Calls back after each change of the certificates. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the folder now. Resolves once a change that was there before the call is in use or refused. */
  check(): Promise<void> {
    return this.#folder.check();
  }

  close(): void {
    this.#folder.close();
  }

  async #look(): Promise<void> {
    const names = await this.#names();
    if (names === undefined) return;
    const found = new Map<string, HostCertificate>();
    for (const name of names) {
      const known = this.#inUse.get(name);
      const read = await readHostCertificate(this.#folder.path, name, this.#now(), known);
      if ('problem' in read) this.#refuse(name, read.problem);
      else this.#refused.delete(name);
      const used = 'problem' in read ? known : read;
      if (used !== undefined) found.set(name, used);
    }
    if (this.#folder.isClosed) return;
    this.#use(found);
    for (const certificate of found.values()) this.#warnOfExpiry(certificate);
  }

  /** Returns the names of the pairs of files; undefined if the folder cannot be read. */
  async #names(): Promise<readonly string[] | undefined> {
    try {
      const files = await readdir(this.#folder.path);
      const names = new Set(
        files.flatMap((file) => /^(?!\.)(.+)\.(?:crt|key)$/.exec(file)?.[1] ?? []),
      );
      const all = [...names].toSorted(
        (one, other) => rank(one) - rank(other) || (one < other ? -1 : 1),
      );
      const { certificatesMax } = this.#options;
      if (all.length > certificatesMax)
        this.#refuse(
          '',
          `it has ${all.length} certificates, and the first ${certificatesMax} are read.`,
        );
      return all.slice(0, certificatesMax);
    } catch (error) {
      this.#refuse('', `it cannot be read (${(error as NodeJS.ErrnoException).code}).`);
      return undefined;
    }
  }

  #use(found: ReadonlyMap<string, HostCertificate>): void {
    const before = this.#inUse;
    this.#inUse = found;
    for (const [name, certificate] of found)
      if (before.get(name) !== certificate) this.#logNew(certificate);
    for (const name of before.keys())
      if (!found.has(name))
        this.#options.log({
          level: 'info',
          message: 'A certificate is not in use any more: its files are gone',
          fields: { folder: this.#folder.path, name },
        });
    this.#byHostname = indexed([...found.values()]);
    for (const listener of this.#listeners) listener();
  }

  #logNew({ name, leaf }: HostCertificate): void {
    this.#options.log({
      level: 'info',
      message: 'A certificate is in use',
      fields: { folder: this.#folder.path, name, expiresAt: leaf.validToDate.toISOString() },
    });
  }

  #refuse(name: string, problem: string): void {
    if (this.#refused.get(name) === problem) return;
    this.#refused.set(name, problem);
    this.#options.log({
      level: 'warn',
      message:
        name === ''
          ? `The folder of certificates cannot be used as it is: ${problem}`
          : `A certificate cannot be used: ${problem} A previous one of the name remains in use.`,
      fields: { folder: this.#folder.path, ...(name === '' ? {} : { name }) },
    });
  }

  #warnOfExpiry(certificate: HostCertificate): void {
    const { leaf, name } = certificate;
    const stage = expiryStage(leaf, this.#now());
    if (stage <= (this.#expiryStages.get(certificate) ?? 0)) return;
    this.#expiryStages.set(certificate, stage);
    this.#options.log(expiryEntry(leaf, { file: `${name}.crt` }, this.#now()));
  }
}

/** The default is read in any case. */
function rank(name: string): number {
  return name === DEFAULT_NAME ? 0 : 1;
}

/** Indexes certificates by what they cover. Of several for one hostname the one that lasts longest is taken. */
function indexed(certificates: readonly HostCertificate[]): ReadonlyMap<string, HostCertificate> {
  const byHostname = new Map<string, HostCertificate>();
  for (const certificate of certificates)
    for (const hostname of certificate.hostnames) {
      const other = byHostname.get(hostname);
      if (other === undefined || other.leaf.validToDate < certificate.leaf.validToDate)
        byHostname.set(hostname, certificate);
    }
  return byHostname;
}
