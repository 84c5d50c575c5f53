// The fuel of a call: what the host does for a module is the module's to pay, a unit for each byte; else a
// loop around a call that comes to nothing would keep the host busy for as long as it likes.
import { GuestFault } from '../../../model/guest-fault.ts';
import type { LimitName } from '../../../model/limit-name.ts';
import { trapFrames } from './trap-frames.ts';

/** The limits on fuel, one for each kind of call. */
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
