// Guests with views and consumers for tests.
import type { ModuleDescriptor } from '@svc/contract';
import { admitModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import { startWasmGuest } from '../../../../../host/hosting/wasm/wasm-guest.ts';
import {
  WASM_LIMITS_DEFAULT,
  type WasmLimits,
} from '../../../../../host/hosting/wasm/wasm-limits.ts';
import type { EntityEvent } from '../../../../../model/entity.ts';
import type { GuestLogLine } from '../../../../../model/guest-log.ts';
import {
  type GuestParts,
  component,
  guestWat,
  testDescriptor,
  withDescriptor,
} from './guest-module.ts';

export async function viewGuest(parts: GuestParts, limits: Partial<WasmLimits> = {}) {
  const bytes = await component(guestWat({ ...parts, version: '0.2.0' }));
  const module = admitModule(withDescriptor(bytes, descriptorOf(parts)));
  const lines: GuestLogLine[] = [];
  const all = { ...WASM_LIMITS_DEFAULT, ...limits };
  const guest = startWasmGuest(module, all, (line) => lines.push(line));
  return { guest, views: guest.views!, consumers: guest.consumers!, lines };
}

/** Declares the views and consumers for which the module has functions. */
function descriptorOf({ keys, consume }: GuestParts): ModuleDescriptor {
  const row = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } as const;
  const sources = ['counter'];
  const view = {
    id: 'orders',
    sources,
    row,
    computesKeys: true,
    indexes: [],
    queries: [],
  } as const;
  const consumers = ['ledger', 'mails'].map((id) => ({ id, sources, start: 'beginning' }) as const);
  return {
    ...testDescriptor('0.2.0'),
    ...(keys === undefined ? {} : { views: [view] }),
    ...(consume === undefined ? {} : { consumers }),
  } as ModuleDescriptor;
}

export function entityEvent(id: string, seq: number, json = `{"type":"placed","n":${seq}}`) {
  return {
    entity: { component: 'order', id },
    seq,
    timeMs: 1_700_000_000_000 + seq,
    event: { manifest: 'order-event', json },
  } satisfies EntityEvent;
}
