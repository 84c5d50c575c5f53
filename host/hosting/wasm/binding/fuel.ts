// Fuel charges a module for work of the host: one unit of fuel for each byte that the host handles. Without this
// charge, a loop of calls to the host would keep the host busy almost without using up its fuel.
import { GuestFault } from '@svc/model/guest-fault';
import type { LimitName } from '@svc/model/limit-name';
import { trapFrames } from './trap-frames.ts';

/** The fuel limits, one for each kind of call. */
export type FuelLimit = Extract<LimitName, `${string}-fuel`>;

/** Takes a unit of fuel for each byte. Throws a GuestFault if too little is left; the fuel is then -1: used up. */
export function payFuel(fuel: WebAssembly.Global, bytes: number, limit: FuelLimit): void {
  const left = (fuel.value as number) - bytes;
  fuel.value = Math.max(left, -1);
  if (left < 0) throw usedUp(limit);
}

/** Returns the fault of a module that used up its fuel. `cause`: the error with which V8 stopped it. */
export function usedUp(limit: FuelLimit, cause?: unknown): GuestFault {
  const frames = trapFrames(cause);
  return new GuestFault('fuel', 'The module used up its fuel.', { limit, cause, frames });
}
