// VirtualGlobals replace what production code gets from its process: clocks, timers, turns of the event loop, message channels, shared
// memory on which it waits, sockets, and ids. Code of a VirtualProcess gets those of the process; all other code gets the real ones.
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { ReplacedFunctions } from './replaced-functions.ts';
import { VirtualChannel } from './virtual-channel.ts';
import { VirtualProcess } from './virtual-process.ts';
import { connectVirtually, VirtualServer } from './virtual-sockets.ts';
import { DATE, PERFORMANCE, PROCESS, TIMER_PROMISES, TIMERS } from './virtual-timers.ts';
import { waitVirtually, wakeVirtually } from './virtual-waits.ts';

type Real = (...values: unknown[]) => unknown;
type Accepts = ConstructorParameters<typeof VirtualServer>[1];

const require = createRequire(import.meta.url);
/** Ids are numbers below this. */
const IDS = 2 ** 31;

const ATOMICS = {
  waitAsync:
    (real: Real) => (array: Int32Array, index: number, value: number, timeoutMs?: number) => {
      const process = VirtualProcess.current;
      return process === undefined
        ? real(array, index, value, timeoutMs)
        : waitVirtually(process, array, { index, value, timeoutMs });
    },
  notify: (real: Real) => (array: Int32Array, index: number, count?: number) =>
    VirtualProcess.current === undefined ? real(array, index, count) : wakeVirtually(array, index),
};
const SOCKETS = {
  connect: (real: Real) => (options: Parameters<typeof connectVirtually>[1]) => {
    const process = VirtualProcess.current;
    return process === undefined ? real(options) : connectVirtually(process, options);
  },
  createServer: (real: Real) => (options: object, accepts: Accepts) => {
    const process = VirtualProcess.current;
    return process === undefined ? real(options, accepts) : new VirtualServer(process, accepts);
  },
};
const IDENTIFIERS = {
  randomUUID: (real: Real) => () => {
    const process = VirtualProcess.current;
    return process === undefined ? real() : `${process.name}-${process.random.below(IDS)}`;
  },
};
const CHANNELS = {
  // It is called with `new`.
  MessageChannel: (RealChannel: typeof MessageChannel) =>
    function channel() {
      const process = VirtualProcess.current;
      return process === undefined ? new RealChannel() : new VirtualChannel(process);
    },
};

/** Replaces the globals. Returns a function that puts the real ones back. */
export function useVirtualGlobals(): () => void {
  const replaced = new ReplacedFunctions();
  replaced.replace(globalThis, TIMERS);
  replaced.replace(performance, PERFORMANCE);
  replaced.replace(Date, DATE);
  replaced.replace(process, PROCESS);
  replaced.replace(Atomics, ATOMICS);
  replaced.replace(require('node:timers/promises') as object, TIMER_PROMISES);
  replaced.replace(require('node:worker_threads') as object, CHANNELS);
  replaced.replace(require('node:net') as object, SOCKETS);
  replaced.replace(require('node:crypto') as object, IDENTIFIERS);
  syncBuiltinESMExports();
  return () => {
    replaced.restore();
    syncBuiltinESMExports();
  };
}
