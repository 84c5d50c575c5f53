// VirtualWaits are the waits of code of VirtualProcesses for shared memory to change, in place of `Atomics.waitAsync` and
// `Atomics.notify`. All threads of a process are one here.
import type { VirtualProcess } from './virtual-process.ts';

interface Wait {
  readonly index: number;
  readonly end: (result: 'ok' | 'timed-out') => void;
}

const WAITS = new WeakMap<object, Set<Wait>>();

/** Waits as `Atomics.waitAsync` does. */
export function waitVirtually(
  process: VirtualProcess,
  array: Int32Array,
  {
    index,
    value,
    timeoutMs,
  }: { readonly index: number; readonly value: number; readonly timeoutMs: number | undefined },
): { readonly async: boolean; readonly value: unknown } {
  if (Atomics.load(array, index) !== value) return { async: false, value: 'not-equal' };
  const waits = WAITS.get(array.buffer) ?? new Set();
  WAITS.set(array.buffer, waits);
  const ended = new Promise((resolve) => {
    let cancelTimeout: (() => void) | undefined;
    const wait: Wait = {
      index,
      end: (result) => {
        waits.delete(wait);
        cancelTimeout?.();
        process.turn(() => resolve(result));
      },
    };
    waits.add(wait);
    if (timeoutMs !== undefined && Number.isFinite(timeoutMs))
      cancelTimeout = process.timer(timeoutMs, () => wait.end('timed-out'));
  });
  return { async: true, value: ended };
}

/** Wakes all that wait for this element. */
export function wakeVirtually(array: Int32Array, index: number): number {
  const waits = [...(WAITS.get(array.buffer) ?? [])].filter((wait) => wait.index === index);
  for (const wait of waits) wait.end('ok');
  return waits.length;
}
