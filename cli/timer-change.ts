// TimerChange: what the commands that change a timer have in common.
import { printable } from '@svc/kit/printable';
import { CommandFailure, EXIT_CODE, type ExitCode } from './command.ts';
import { readOwner } from './timer-owner.ts';

export const OWNER_WORD = { name: 'OWNER' } as const;

interface TimerChange {
  /** Begins the sentence that reports the change. */
  readonly done: string;
  /** The kind of timer that the change looks for. */
  readonly what: string;
  readonly kind: 'cancel-timer' | 'retry-timer';
}

/** Changes a timer, and reports that. Rejects with SVC_NOT_IN_JOURNAL, and as `changeFolder` does. */
export async function changeTimer(
  command: string,
  { dir, owner, name }: { readonly dir: string; readonly owner: string; readonly name: string },
  { done, what, kind }: TimerChange,
): Promise<ExitCode> {
  const of = readOwner(command, owner);
  const { changeFolder } = await import('@svc/host/tools');
  const entity = of === 'service' ? null : of;
  const { changed } = await changeFolder(dir, { kind, owner: entity, name });
  if (!changed)
    throw new CommandFailure(
      'SVC_NOT_IN_JOURNAL',
      `The journal has no ${what} '${name}' of ${owner}. svc timers DIR lists the timers that it has.`,
    );
  process.stderr.write(`${done} timer '${printable(name)}' of ${printable(owner)}.\n`);
  return EXIT_CODE.ok;
}
