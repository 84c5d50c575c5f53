// LogCursors: where further pages of the log begin, as texts that only this service can write.
//
// Invariant: a text is taken for the tenant and the filters of the page that had it, and for no others.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { DeliveryOutcome } from '@svc/client';

/** `outcome` goes alone or with `subscription`; the others go alone. */
export interface LogFilters {
  readonly outcome?: DeliveryOutcome;
  readonly subscription?: string;
  readonly dataset?: string;
  readonly eventId?: string;
}

/** Where a page begins: a segment, the time since which entries are walked, and what its view calls a cursor. */
export interface LogPosition {
  readonly segment: number;
  readonly sinceMs: number;
  readonly cursor: string | undefined;
}

const KEY_BYTES = 32;
/** Bytes of the code by which a text is known; what follows is the position. */
const CODE_BYTES = 16;

export class LogCursors {
  readonly #key: Uint8Array;

  constructor(masterKey: Uint8Array) {
    const key = hkdfSync('sha256', masterKey, '', 'svc webhooks: cursors of the log', KEY_BYTES);
    this.#key = new Uint8Array(key);
  }

  textOf(
    tenant: string,
    filters: LogFilters,
    { segment, sinceMs, cursor = '' }: LogPosition,
  ): string {
    const position = Buffer.from(`${segment} ${sinceMs} ${cursor}`);
    return Buffer.concat([this.#codeOf(tenant, filters, position), position]).toString('base64url');
  }

  /** Returns the position that a text names; undefined: no page of the tenant with these filters had it. */
  positionOf(tenant: string, filters: LogFilters, text: string): LogPosition | undefined {
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length <= CODE_BYTES || bytes.toString('base64url') !== text) return undefined;
    const position = bytes.subarray(CODE_BYTES);
    const code = this.#codeOf(tenant, filters, position);
    if (!timingSafeEqual(bytes.subarray(0, CODE_BYTES), code)) return undefined;
    const [, segment, since, cursor] = /^(\d+) (\d+) (.*)$/s.exec(position.toString()) ?? [];
    return {
      segment: Number(segment),
      sinceMs: Number(since),
      cursor: cursor === '' ? undefined : cursor,
    };
  }

  #codeOf(
    tenant: string,
    { outcome, subscription, dataset, eventId }: LogFilters,
    position: Uint8Array,
  ): Uint8Array {
    const of = JSON.stringify([tenant, { outcome, subscription, dataset, eventId }]);
    const code = createHmac('sha256', this.#key).update(`${of}\n`).update(position).digest();
    return code.subarray(0, CODE_BYTES);
  }
}
