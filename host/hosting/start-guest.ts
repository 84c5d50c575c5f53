// StartGuest starts guests from their sources: the one place that knows which hosting runs which kind of source. A shard
// is waiting when it starts its module, so the code of the wasm hosting is loaded with this file.
import type { Guest } from '../engine/needs/guest.ts';
import type { GuestLog } from '../model/guest-log.ts';
import type { GuestSource, HostingSettings } from './guest-source.ts';
import { startWasmGuest, type WasmNumbers } from './wasm/wasm-guest.ts';

export interface StartedGuest extends Guest {
  /** Absent: the hosting has neither instances nor memory of its own. */
  readonly numbers?: WasmNumbers;
}

/** Starts a guest that shares no instance with another. Throws an SvcError SVC_MODULE_START_FAILED. */
export type GuestStarter = (log: GuestLog) => StartedGuest;

/** Loads what runs the source in this thread, so that guests can be started at once. */
export async function guestStarter(
  source: GuestSource,
  settings: HostingSettings,
): Promise<GuestStarter> {
  switch (source.kind) {
    case 'wasm':
      return (log) => startWasmGuest(source.module, settings.wasm, log);
  }
}

/** Starts a guest in this thread; `log` takes what it logs. Rejects with an SvcError SVC_MODULE_START_FAILED. */
export async function startGuest(
  source: GuestSource,
  settings: HostingSettings,
  log: GuestLog,
): Promise<StartedGuest> {
  const start = await guestStarter(source, settings);
  return start(log);
}
