// CertificatesUnderTest: the certificates of a machine in a folder of its own, with a clock that the test sets.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { ServiceKey } from '@svc/client';
import type { LogEntry } from '@svc/kit/log-entry';
import {
  type CertificatePaths,
  certificatePaths,
} from '../../../control-plane/authorities/certificate-paths.ts';
import {
  type IdentityHolder,
  MachineCertificates,
  type MachineCertificatesOptions,
} from '../../../control-plane/authorities/machine-certificates.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const DOMAIN = 'svc.localhost';
const TIMES = {
  identityLifetimeMs: DAY_MS,
  hostnameLifetimeMs: 30 * DAY_MS,
  authoritySettleMs: 30_000,
  certificatePollMs: 1_000_000_000,
};

export class CertificatesUnderTest {
  readonly folder: string;
  readonly paths: CertificatePaths;
  readonly logged: LogEntry[] = [];
  readonly #holders: IdentityHolder[] = [];
  nowMs = Date.now();

  constructor(folder = temporaryFolder()) {
    this.folder = folder;
    this.paths = certificatePaths(folder);
  }

  async open(options: Partial<MachineCertificatesOptions> = {}): Promise<MachineCertificates> {
    const opened = await MachineCertificates.open({
      folder: this.folder,
      domain: DOMAIN,
      isNew: false,
      holders: () => this.#holders,
      times: TIMES,
      clock: { nowMs: () => this.nowMs },
      log: (entry) => this.logged.push(entry),
      ...options,
    });
    onTestFinished(() => opened.close());
    return opened;
  }

  /** Gives an instance its identity. Returns the folder of the identity. */
  async instance(certificates: MachineCertificates, service: string): Promise<string> {
    const key: ServiceKey = { project: 'shop', service };
    const around = join(this.folder, 'instances', 'shop', service, `${service}-1-00000000`);
    mkdirSync(around, { recursive: true });
    const folder = join(around, 'identity');
    certificates.write(folder, await certificates.issueTo(key));
    this.#holders.push({ folder, key });
    return folder;
  }
}

export function certificateIn(folder: string, name = 'tls.crt'): X509Certificate {
  return new X509Certificate(readFileSync(join(folder, name)));
}

/** Texts of the three files of an identity. */
export function textsIn(folder: string): { certificate: string; key: string; authorities: string } {
  const [certificate, key, authorities] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) =>
    readFileSync(join(folder, name), 'utf8'),
  );
  return { certificate: certificate!, key: key!, authorities: authorities! };
}
