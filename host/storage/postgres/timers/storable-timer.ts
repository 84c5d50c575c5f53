// StorableTimer is a timer that PostgreSQL can keep. The texts and times of the engine are storable; here that is checked, because a
// value that PostgreSQL refuses would fail all appends of a group, and one that it changes would not be found again.
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type { StoredTimer } from '../../../engine/needs/timers.ts';

/** Returns whether PostgreSQL returns the text as it was stored: it has no U+0000 and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Returns SVC_TIMER_INVALID for a timer that PostgreSQL cannot keep; undefined if it can. */
export function unstorable(timer: StoredTimer): SvcError | undefined {
  const { owner, name, target, schedule } = timer;
  const texts = {
    owner: owner && `${owner.component}${owner.id}`,
    name: name,
    target: `${target.component}${target.id}`,
    command: timer.command,
    input: timer.input,
    zone: schedule?.kind === 'cron' ? schedule.zone : undefined,
    'last fault': timer.fault,
    'trace context': timer.traceParent,
  };
  for (const [part, text = ''] of Object.entries(texts))
    if (!isStorable(text))
      return invalid(timer, `its ${part} contains U+0000 or half of a surrogate pair`);
  const { dueMs, nextMs = 0, attempts, attemptsMax = 0, setMs } = timer;
  for (const number of [dueMs, nextMs, attempts, attemptsMax, setMs])
    if (!Number.isSafeInteger(number)) return invalid(timer, `${number} is not a whole number`);
  return undefined;
}

function invalid({ name }: StoredTimer, problem: string): SvcError {
  return new SvcError(
    'SVC_TIMER_INVALID',
    `The timer '${printable(name)}' was not stored, because ${problem}, which PostgreSQL cannot keep. Correct the timer.`,
  );
}
