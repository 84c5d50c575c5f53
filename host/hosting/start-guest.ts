// StartGuest starts guests from their sources: the one module that knows which hosting runs which kind of source. The
// code of the wasm hosting is loaded statically, because a shard has to wait for it anyway.
import type { Guest } from '@svc/model/guest';
import type { GuestLog } from '@svc/model/guest-log';
import { type GuestShard, NO_SHARD } from './guest-shard.ts';
import type { GuestSource, HostingSettings } from './guest-source.ts';
import { startWasmGuest, type WasmNumbers } from './wasm/wasm-guest.ts';

export interface StartedGuest extends Guest {
  /** Absent if the hosting has neither instances nor memory of its own. */
  readonly numbers?: WasmNumbers;
}

/**
 * Starts a guest that shares no instance with another guest. The guests of a program share the variables of the
 * program's files. `log`: receives what a module logs; what a program prints appears on stderr. Throws an SvcError
 * SVC_MODULE_START_FAILED, or SVC_OVERLOADED if there is no memory for the first instance.
 */
export type GuestStarter = (log: GuestLog) => StartedGuest;

/**
 * Loads the code that runs the source, and returns a function that starts guests synchronously: a module runs in this
 * thread, a program in a thread of its own, and the code of a process there. Only tools start several guests.
 */
export async function guestStarter(
  source: GuestSource,
  settings: HostingSettings,
): Promise<GuestStarter> {
  switch (source.kind) {
    case 'wasm':
      return (log) => startWasmGuest(source.module, settings.wasm, log);
    case 'program': {
      // Only tools run a source of this kind, so a shard does not wait for this code.
      const { programStarter } = await import('./program/program-guest.ts');
      return programStarter(source);
    }
    case 'process': {
      const { processStarter } = await import('./process/process-starter.ts');
      return processStarter(source);
    }
  }
}

/**
 * Starts a guest, in the thread that `guestStarter` names. `ofShard`: the shard that it is started for. Rejects with
 * SVC_PROCESS_INVALID if the process cannot be served, and with the errors that a `GuestStarter` throws.
 */
export async function startGuest(
  source: GuestSource,
  settings: HostingSettings,
  log: GuestLog,
  ofShard: GuestShard = NO_SHARD,
): Promise<StartedGuest> {
  if (source.kind === 'process') {
    // Most services have no process, so a shard does not wait for this code.
    const { startProcessGuest } = await import('./process/process-guest.ts');
    return startProcessGuest(source, ofShard, log);
  }
  const start = await guestStarter(source, settings);
  return start(log);
}
