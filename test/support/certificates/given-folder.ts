// GivenFolder: the folder of an authority that somebody else writes, with a clock that the test sets.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogEntry } from '@svc/kit/log-entry';
import {
  type IssuedPair,
  newAuthority,
} from '../../../control-plane/authorities/certificate-issuer.ts';
import { GivenAuthority } from '../../../control-plane/authorities/given-authority.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
export const SETTLE_MS = 15 * MINUTE_MS;

let authorities = 0;

/** Makes an authority that is valid for the time, and was for a day. */
export function madeAuthority(leftMs = 3650 * DAY_MS): Promise<IssuedPair> {
  const nowMs = Date.now();
  return newAuthority({
    name: `identities ${++authorities}`,
    permittedDomain: undefined,
    validity: { fromMs: nowMs - DAY_MS, toMs: nowMs + leftMs },
  });
}

export class GivenFolder {
  readonly folder: string;
  readonly logged: LogEntry[] = [];
  /** Whole seconds, as certificates have them. */
  nowMs = Math.floor(Date.now() / 1000) * 1000;
  readonly clock = { nowMs: () => this.nowMs };

  /** `folder`: by default one of the present test. */
  constructor(folder = temporaryFolder()) {
    this.folder = folder;
  }

  /** Writes the files. `trusted`: certificates of ca.crt; undefined: there is no such file. */
  write({ certificate, key }: IssuedPair, trusted?: readonly IssuedPair[]): void {
    writeFileSync(join(this.folder, 'tls.crt'), certificate);
    writeFileSync(join(this.folder, 'tls.key'), key, { mode: 0o440 });
    const file = join(this.folder, 'ca.crt');
    if (trusted === undefined) rmSync(file, { force: true });
    else writeFileSync(file, trusted.map((one) => one.certificate).join(''));
  }

  open(): Promise<GivenAuthority> {
    const { folder, clock } = this;
    const log = (entry: LogEntry) => void this.logged.push(entry);
    return GivenAuthority.open({ folder, lifetimeMs: DAY_MS, settleMs: SETTLE_MS, clock, log });
  }
}
