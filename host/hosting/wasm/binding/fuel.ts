// The fuel of a call. The module pays a unit for each byte of work that the host does for it; otherwise a
// loop around a call without effect would keep the host busy for as long as the module likes.
import { GuestFault } from '../../../model/guest-fault.ts';
import type { LimitName } from '../../../model/limit-name.ts';
import { trapFrames } from './trap-frames.ts';

/** The fuel limits, one for each kind of call. */
export type FuelLimit = Extract<LimitName, `${string}-fuel`>;

export function payFuel(fuel: WebAssembly.Global, bytes: number, limit: FuelLimit): void {
  const left = (fuel.value as number) - bytes;
  fuel.value = Math.max(left, -1);
  if (left < 0) throw usedUp(limit);
}

export function usedUp(limit: FuelLimit, cause?: unknown): GuestFault {
  const frames = trapFrames(cause);
  return new GuestFault('fuel', 'The module used up its fuel.', { limit, cause, frames });
}
