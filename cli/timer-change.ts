// TimerChange: what the commands that change a timer have in common.
import type { ExitCode } from './command.ts';
import { changeService } from './service-change.ts';
import { readOwner } from './timer-owner.ts';

export const OWNER_WORD = { name: 'OWNER' } as const;

interface TimerChange {
  /** Begins the sentence that reports the change. */
  readonly done: string;
  /** The kind of timer that the change looks for. */
  readonly what: string;
  readonly kind: 'cancel-timer' | 'retry-timer';
}

/** Changes a timer, and reports that. Rejects as `changeService` does. */
export function changeTimer(
  command: string,
  { dir, owner, name }: { readonly dir: string; readonly owner: string; readonly name: string },
  { done, what, kind }: TimerChange,
): Promise<ExitCode> {
  const of = readOwner(command, owner);
  const whose = of === 'service' ? 'the service' : owner;
  const request = { kind, owner: of === 'service' ? null : of, name };
  return changeService(dir, request, {
    done: `${done} timer '${name}' of ${whose}.`,
    nothing: `The journal has no ${what} '${name}' of ${whose}. svc timers DIR lists the timers that it has.`,
  });
}
