// TimerChange: what the commands that change a timer have in common.
import type { ChangeableTimers, EntityRef } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { CommandFailure, EXIT_CODE, type ExitCode } from './command.ts';
import { readOwner } from './timer-owner.ts';

export const OWNER_WORD = { name: 'OWNER' } as const;

interface TimerChange {
  /** Begins the sentence that reports the change. */
  readonly done: string;
  /** The kind of timer that the change looks for. */
  readonly kind: string;
  /** Resolves with whether there was such a timer. `owner`: undefined for the service. */
  readonly change: (timers: ChangeableTimers, owner: EntityRef | undefined) => Promise<boolean>;
}

/** Changes a timer, and reports that. Rejects with SVC_NOT_IN_JOURNAL, and as `changeTimers` does. */
export async function changeTimer(
  command: string,
  { dir, owner, name }: { readonly dir: string; readonly owner: string; readonly name: string },
  { done, kind, change }: TimerChange,
): Promise<ExitCode> {
  const of = readOwner(command, owner);
  const { changeTimers } = await import('@svc/host/tools');
  const entity = of === 'service' ? undefined : of;
  if (!(await changeTimers(dir, (timers) => change(timers, entity))))
    throw new CommandFailure(
      'SVC_NOT_IN_JOURNAL',
      `The journal has no ${kind} '${name}' of ${owner}. svc timers DIR lists the timers that it has.`,
    );
  process.stderr.write(`${done} timer '${printable(name)}' of ${printable(owner)}.\n`);
  return EXIT_CODE.ok;
}
