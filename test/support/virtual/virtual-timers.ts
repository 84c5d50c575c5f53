// VirtualTimers are the timers, the turns of the event loop and the clocks of code of a VirtualProcess, in place of those of Node.
import { VirtualProcess } from './virtual-process.ts';

type Callback = (...values: unknown[]) => void;

/** As short as a timer of Node can be, in milliseconds. */
const TIMER_MS_MIN = 1;
const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1_000_000;

/** A timer, an interval or a callback of the next turn. */
class VirtualTimer {
  readonly #cancel: () => void;

  constructor(cancel: () => void) {
    this.#cancel = cancel;
  }

  cancel(): void {
    this.#cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

function timer(process: VirtualProcess, ms: number, execute: () => void): () => void {
  return process.timer(Math.max(TIMER_MS_MIN, ms), execute);
}

function interval(process: VirtualProcess, ms: number, execute: () => void): () => void {
  let cancel: (() => void) | undefined;
  const begin = (): void => {
    cancel = timer(process, ms, () => {
      begin();
      execute();
    });
  };
  begin();
  return () => cancel?.();
}

function turn(process: VirtualProcess, execute: () => void): () => void {
  let isCancelled = false;
  process.turn(() => {
    if (!isCancelled) execute();
  });
  return () => {
    isCancelled = true;
  };
}

/** Returns a function that begins a timer or an interval. */
function withTime(begin: typeof timer) {
  return (real: Callback) =>
    Object.assign((callback: Callback, ms = 0, ...values: unknown[]) => {
      const process = VirtualProcess.current;
      if (process === undefined) return real(callback, ms, ...values);
      return new VirtualTimer(begin(process, ms, () => callback(...values)));
    }, real);
}

function clearing(real: Callback) {
  return (cleared: unknown): void => {
    if (cleared instanceof VirtualTimer) cleared.cancel();
    else real(cleared);
  };
}

/** Those of the global object. */
export const TIMERS = {
  setTimeout: withTime(timer),
  setInterval: withTime(interval),
  setImmediate: (real: Callback) =>
    Object.assign((callback: Callback, ...values: unknown[]) => {
      const process = VirtualProcess.current;
      if (process === undefined) return real(callback, ...values);
      return new VirtualTimer(turn(process, () => callback(...values)));
    }, real),
  clearTimeout: clearing,
  clearInterval: clearing,
  clearImmediate: clearing,
};

/** Those of `node:timers/promises`. */
export const TIMER_PROMISES = {
  setTimeout:
    (real: Callback) =>
    (ms = 0, value?: unknown, options?: object) => {
      const process = VirtualProcess.current;
      if (process === undefined) return real(ms, value, options);
      return new Promise((resolve) => {
        timer(process, ms, () => resolve(value));
      });
    },
};

/** That of `performance`. */
export const PERFORMANCE = {
  now: (real: () => number) => () => VirtualProcess.current?.monotonicMs ?? real.call(performance),
};

/** That of `Date`. */
export const DATE = {
  now: (real: () => number) => () => Math.floor(VirtualProcess.current?.wallMs ?? real()),
};

/** That of the process. */
export const PROCESS = {
  hrtime: (real: typeof process.hrtime) =>
    Object.assign((time?: [number, number]) => {
      const ms = VirtualProcess.current?.monotonicMs;
      if (ms === undefined) return real(time);
      const seconds = Math.floor(ms / MS_PER_SECOND);
      return [seconds, Math.floor((ms - seconds * MS_PER_SECOND) * NS_PER_MS)];
    }, real),
};
