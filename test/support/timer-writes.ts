// Timers as tests write them: to a journal, with or without records, and the ends of their firings.
import type { Journal, StoredBeside } from '../../host/engine/needs/journal.ts';
import type {
  FiredOccurrence,
  FiringEnd,
  TimerToStore,
  TimerWrite,
} from '../../host/engine/needs/timers.ts';
import type { EntityRef, JournalRecord } from '../../model/entity.ts';
import type { SvcError } from '../../kit/svc-error.ts';

/** When the timers of `timerAt` are set. */
export const SET_MS = 1_700_000_000_000;
export function timerAt(
  name: string,
  atMs: number,
  other: Partial<TimerToStore> = {},
): TimerToStore {
  return {
    kind: 'set',
    name,
    target: { component: 'Cart', id: 'target' },
    command: 'expire',
    input: '{"why":"time"}',
    due: { kind: 'at', atMs },
    attemptsMax: undefined,
    setMs: SET_MS,
    traceParent: undefined,
    ...other,
  };
}

/** Settles as the append does, as a value. */
export function appendBeside(
  journal: Journal,
  entity: EntityRef,
  records: readonly JournalRecord[],
  beside: StoredBeside,
): Promise<SvcError | undefined> {
  return new Promise((resolve) => {
    journal.append(entity, records, resolve, beside);
  });
}

/** Appends changes of timers alone. */
export function change(
  journal: Journal,
  entity: EntityRef,
  ...changes: readonly TimerWrite[]
): Promise<SvcError | undefined> {
  return appendBeside(journal, entity, [], { timers: { changes } });
}

/** Appends the end of a firing, with changes of timers but without records. */
export function end(
  journal: Journal,
  entity: EntityRef,
  occurrence: FiredOccurrence,
  how: FiringEnd,
  changes: readonly TimerWrite[] = [],
): Promise<SvcError | undefined> {
  return appendBeside(journal, entity, [], {
    timers: { firing: { occurrence, end: how }, changes },
  });
}

/** Appends the records of a firing that was answered, and the changes of timers, and removes the timer. */
export function settle(
  journal: Journal,
  entity: EntityRef,
  occurrence: FiredOccurrence,
  records: readonly JournalRecord[],
  changes: readonly TimerWrite[] = [],
): Promise<SvcError | undefined> {
  return appendBeside(journal, entity, records, {
    timers: { firing: { occurrence, end: { kind: 'remove' } }, changes },
  });
}
