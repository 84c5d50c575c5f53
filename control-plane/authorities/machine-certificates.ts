// MachineCertificates keeps the certificates of an installation on one machine: the identity of the gateway and of each instance, the
// gateway's certificate for hostnames, and the authorities of both. It writes them into folders that their programs watch, and
// replaces them in time.
//
// Invariants
// M1  One check runs at a time.
// M2  A failure at one folder keeps no other one from being renewed; what is there remains in use, and the next check tries again.
// M3  A folder whose owner is gone is not made again.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ServiceKey } from '@svc/client';
import type { CallerRules } from '@svc/identity/caller';
import { type CertificateTexts, parseServerPair } from '@svc/identity/certificates';
import { defaultGatewayId, serviceId } from '@svc/identity/spiffe-id';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import type { AuthorityKind } from './authority-file.ts';
import { Authority, type AuthorityOptions } from './authority.ts';
import { type CertificatePaths, certificatePaths } from './certificate-paths.ts';
import { carryOut, fileSetSteps, fileSteps } from './file-steps.ts';
import { IdentityRenewal } from './identity-renewal.ts';
import { isLeafDue } from './leaf-renewal.ts';

/** A folder with the identity of a program. */
export interface IdentityHolder {
  readonly folder: string;
  readonly key: ServiceKey;
}

export interface CertificateTimes {
  /** Lifetime of an identity, in milliseconds. */
  readonly identityLifetimeMs: number;
  /** Lifetime of the gateway's certificate for hostnames, in milliseconds. */
  readonly hostnameLifetimeMs: number;
  /** Time in which all programs take another authority into use before certificates of it are shown to them, in milliseconds. */
  readonly authoritySettleMs: number;
  /** Interval at which certificates are looked at, in milliseconds. */
  readonly certificatePollMs: number;
}

export interface MachineCertificatesOptions {
  /** Folder of the machine. */
  readonly folder: string;
  /** Base domain, without a port. */
  readonly domain: string;
  /** True: the operator asks for other authorities. */
  readonly isNew: boolean;
  /** Returns the folders of the instances that have an identity. */
  readonly holders: () => readonly IdentityHolder[];
  readonly times: CertificateTimes;
  readonly clock: { nowMs(): number };
  readonly log: Log;
  /** Changes files; a test ends it after any of its steps. */
  readonly carryOut?: typeof carryOut;
}

/** How the operator asks for other authorities. */
const ASKING = '--new-authority (svc.local.new-authority=true)';
/** Anybody may read the certificate of an authority. */
const PUBLIC_MODE = 0o644;

export class MachineCertificates {
  readonly paths: CertificatePaths;
  /** Identities that every service of the machine admits. */
  readonly rules: CallerRules;
  readonly #options: MachineCertificatesOptions;
  readonly #identities: IdentityRenewal;
  readonly #hostnames: Authority;
  readonly #carryOut: typeof carryOut;
  readonly #poll: NodeJS.Timeout;
  #checking: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Why the folder could not be renewed at the last check, by its path. */
  readonly #failures = new Map<string, string>();

  private constructor(
    options: MachineCertificatesOptions,
    authorities: { readonly identities: Authority; readonly hostnames: Authority },
  ) {
    const { folder, domain, times } = options;
    this.#options = options;
    this.#carryOut = options.carryOut ?? carryOut;
    this.paths = certificatePaths(folder);
    this.rules = { trustDomain: domain, gatewayId: defaultGatewayId(domain) };
    this.#identities = new IdentityRenewal({
      authority: authorities.identities,
      lifetimeMs: times.identityLifetimeMs,
      clock: options.clock,
    });
    this.#hostnames = authorities.hostnames;
    this.#poll = setInterval(() => void this.check(), times.certificatePollMs).unref();
  }

  /**
   * Opens the authorities, and has all certificates there before it resolves. Rejects with SVC_AUTHORITY_LOST, SVC_AUTHORITY_UNUSABLE, and
   * with SVC_DATA_UNUSABLE or SVC_DISK_FULL if an authority that was made cannot be written.
   */
  static async open(options: MachineCertificatesOptions): Promise<MachineCertificates> {
    try {
      return await MachineCertificates.#open(options);
    } catch (error) {
      throw error instanceof SvcError
        ? error
        : unwritable(options.folder, error as NodeJS.ErrnoException);
    }
  }

  static async #open(options: MachineCertificatesOptions): Promise<MachineCertificates> {
    const paths = certificatePaths(options.folder);
    for (const path of [paths.authorities, paths.gateway])
      mkdirSync(path, { recursive: true, mode: 0o700 });
    const { identityLifetimeMs, hostnameLifetimeMs, authoritySettleMs } = options.times;
    const { domain, isNew, log, clock } = options;
    const common = { domain, isNew, log, carryOut: options.carryOut ?? carryOut };
    const authority = (
      kind: AuthorityKind,
      rest: Pick<AuthorityOptions, 'published' | 'lifetimeMs'> & { readonly trustedBy: string },
    ) =>
      Authority.open({
        ...common,
        ...rest,
        settleMs: authoritySettleMs,
        nowMs: clock.nowMs(),
        kind,
        words: { trustedBy: rest.trustedBy, asking: ASKING },
        file: join(paths.authorities, `${kind}.json`),
      });
    const opened = new MachineCertificates(options, {
      identities: await authority('identities', {
        published: textOf(join(paths.gatewayIdentity, 'ca.crt')) ?? '',
        lifetimeMs: identityLifetimeMs,
        trustedBy: 'the services of this machine',
      }),
      hostnames: await authority('hostnames', {
        published: textOf(paths.hostnamesAuthority) ?? '',
        lifetimeMs: hostnameLifetimeMs,
        trustedBy: 'clients of the gateway',
      }),
    });
    await opened.check();
    return opened;
  }

  /** Issues an identity to a service. */
  issueTo(key: ServiceKey): Promise<CertificateTexts> {
    return this.#identities.issue(serviceId(this.rules.trustDomain, key));
  }

  /** Writes an identity into its folder, which is made. Throws the file system's error. */
  write(folder: string, { certificate, key, authorities }: CertificateTexts): void {
    const files = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authorities };
    this.#carryOut(fileSetSteps(folder, files));
  }

  /** Replaces what is due. Resolves once that is done; failures are logged. */
  check(): Promise<void> {
    this.#checking = this.#checking.then(() => this.#checkAll());
    return this.#checking;
  }

  /** Resolves once nothing more is written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#poll);
    await this.#checking;
  }

  async #checkAll(): Promise<void> {
    const { paths, rules } = this;
    await this.#attempt(paths.hostnamesAuthority, () => this.#publishAuthority());
    await this.#attempt(paths.gatewayCertificates, () => this.#renewHostnames());
    await this.#attempt(paths.gatewayIdentity, () =>
      this.#renewIdentity(paths.gatewayIdentity, rules.gatewayId),
    );
    for (const { folder, key } of this.#options.holders())
      // oxlint-disable-next-line no-await-in-loop -- nobody waits, and issuing one after the other leaves the thread to requests
      await this.#attempt(folder, () =>
        this.#renewIdentity(folder, serviceId(rules.trustDomain, key)),
      );
  }

  /** Carries out a part of a check, and logs its failure once for each reason. */
  async #attempt(path: string, part: () => void | Promise<void>): Promise<void> {
    if (this.#isClosed) return;
    try {
      await part();
      this.#failures.delete(path);
    } catch (error) {
      const { message, code = message } = error as NodeJS.ErrnoException;
      if (this.#failures.get(path) === code) return;
      this.#failures.set(path, code);
      this.#options.log({
        level: 'error',
        message: 'Certificates cannot be renewed, which is tried again',
        fields: { path, error: message },
      });
    }
  }

  #publishAuthority(): void {
    const { hostnamesAuthority } = this.paths;
    const { certificate } = this.#hostnames;
    if (textOf(hostnamesAuthority) !== certificate)
      this.#carryOut(fileSteps(hostnamesAuthority, certificate, PUBLIC_MODE));
  }

  async #renewHostnames(): Promise<void> {
    const folder = this.paths.gatewayCertificates;
    const { domain, times, clock } = this.#options;
    const nowMs = clock.nowMs();
    const certificate = textOf(join(folder, 'default.crt'));
    const key = textOf(join(folder, 'default.key'));
    if (certificate !== undefined && key !== undefined) {
      const pair = parseServerPair({ certificate, key }, nowMs);
      const isCurrent =
        !('problem' in pair) &&
        !isLeafDue(pair.leaf, times.hostnameLifetimeMs, nowMs) &&
        !this.#hostnames.isSuccessorOf(pair.leaf, nowMs);
      if (isCurrent) return;
    }
    const issued = await this.#hostnames.issue({ hostnames: [domain, `*.${domain}`] }, nowMs);
    const files = { 'default.crt': issued.certificate, 'default.key': issued.key };
    this.#carryOut(fileSetSteps(folder, files));
  }

  async #renewIdentity(folder: string, id: string): Promise<void> {
    const { texts, isChanged } = await this.#identities.renewed(textsIn(folder), id);
    // An instance may have been removed meanwhile.
    if (isChanged && existsSync(dirname(folder))) this.write(folder, texts);
  }
}

function unwritable(folder: string, cause: NodeJS.ErrnoException): SvcError {
  return new SvcError(
    cause.code === 'ENOSPC' ? 'SVC_DISK_FULL' : 'SVC_DATA_UNUSABLE',
    `The certificates of this machine cannot be written below ${folder}: ${cause.message}. The user of this process has to be able to write there, on a disk with space.`,
    { cause },
  );
}

function textsIn(folder: string): CertificateTexts | undefined {
  const [certificate, key, authorities] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) =>
    textOf(join(folder, name)),
  );
  if (certificate === undefined || key === undefined || authorities === undefined) return undefined;
  return { certificate, key, authorities };
}

/** Returns the content; undefined if the file cannot be read. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
