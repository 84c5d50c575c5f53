// Live guests for tests: modules of guest-module.ts started in the wasm hosting, with requests and host calls for
// them.
import type { StringEncoding } from '../../../../../host/hosting/wasm/binary/component-outline.ts';
import type { GuestLogLine } from '../../../../../model/guest-log.ts';
import { createWasmGuest } from '../../../../../host/hosting/wasm/wasm-guest.ts';
import {
  WASM_LIMITS_DEFAULT,
  type WasmLimits,
} from '../../../../../host/hosting/wasm/wasm-limits.ts';
import type { Guest, HostCalls } from '../../../../../model/guest.ts';
import type { CallContext } from '../../../../../model/call.ts';
import type { WholeRequest } from '../../../../../model/endpoint.ts';
import { GuestFault } from '../../../../../model/guest-fault.ts';
import { type GuestParts, guestModule } from './guest-module.ts';
import { WITHOUT_TIMERS } from '../../../../support/without-timers.ts';

export interface LiveGuest extends Guest {
  readonly lines: readonly GuestLogLine[];
}

export async function liveGuest(
  parts: GuestParts,
  limits: Partial<WasmLimits> = {},
  encoding: StringEncoding = 'utf8',
): Promise<LiveGuest> {
  const bytes = await guestModule(parts, encoding);
  const lines: GuestLogLine[] = [];
  const all = { ...WASM_LIMITS_DEFAULT, ...limits };
  const guest = await createWasmGuest(bytes, all, (line) => lines.push(line));
  return { ...guest, lines };
}

export const CONTEXT: CallContext = {
  nowMs: 1_700_000_000_000,
  seed: 2n ** 64n - 1n,
  metadata: [],
};

export function entityRef(id: string) {
  return { component: 'counter', id };
}

export function request(route: number, other: Partial<WholeRequest> = {}): WholeRequest {
  return {
    route,
    parameters: [],
    query: '',
    headers: [],
    caller: 'local',
    body: { kind: 'none' },
    ...other,
  };
}

/** Host calls that fail the test, except the given ones; the clock stands still. */
export function hostCalls(given: Partial<HostCalls> = {}): HostCalls {
  return {
    nowMs: () => CONTEXT.nowMs,
    call: unexpected,
    ...WITHOUT_TIMERS,
    readEvents: unexpected,
    ...given,
  };
}

/** Returns the fault with which the work ends; any other end fails the test. */
export async function faultOf(work: () => unknown): Promise<GuestFault> {
  try {
    await work();
  } catch (error) {
    if (error instanceof GuestFault) return error;
    throw error;
  }
  throw new Error('there was no fault');
}

function unexpected(): never {
  throw new Error('an unexpected call of the host');
}
