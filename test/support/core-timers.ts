// CoreTimers: reads timers from the memory of a core module, as the canonical ABI lays them out.

export interface CoreTimer {
  readonly name: string;
  readonly component: string;
  readonly id: string;
  readonly command: string;
  readonly input: string;
  readonly due:
    | { readonly kind: 'at' | 'after' | 'every'; readonly ms: number }
    | { readonly kind: 'cron'; readonly expression: string; readonly zone: string };
  readonly attempts: number | undefined;
}

export type CoreTimerChange = { readonly set: CoreTimer } | { readonly cancel: string };

/** Reads the text whose pointer and length are at an address. */
type TextAt = (at: number) => string;

const TIMER_CHANGE_BYTES = 80;
const DUE_KINDS = ['at', 'after', 'every', 'cron'] as const;

/** Reads a list<timer-change>. */
export function timerChanges(view: DataView, at: number, textAt: TextAt): CoreTimerChange[] {
  const from = view.getUint32(at, true);
  return Array.from({ length: view.getUint32(at + 4, true) }, (_, index) => {
    const change = from + index * TIMER_CHANGE_BYTES;
    return view.getUint8(change) === 0
      ? { set: timer(view, change + 8, textAt) }
      : { cancel: textAt(change + 8) };
  });
}

/** Reads a `timer`. */
export function timer(view: DataView, at: number, textAt: TextAt): CoreTimer {
  if (at % 8 !== 0) throw new Error('a timer is not aligned');
  const kind = DUE_KINDS[view.getUint8(at + 40)]!;
  return {
    name: textAt(at),
    component: textAt(at + 8),
    id: textAt(at + 16),
    command: textAt(at + 24),
    input: textAt(at + 32),
    due:
      kind === 'cron'
        ? { kind, expression: textAt(at + 48), zone: textAt(at + 56) }
        : { kind, ms: Number(view.getBigUint64(at + 48, true)) },
    attempts: view.getUint8(at + 64) === 0 ? undefined : view.getUint32(at + 68, true),
  };
}
