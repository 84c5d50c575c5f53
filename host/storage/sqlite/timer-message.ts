// TimerMessage is the form in which the timers of an append are sent to the writer: a flat list of plain values, as the
// rest of the append (journal-message.ts).
import type { StoredBeside } from '../../engine/needs/journal.ts';
import type { FiringEnd, TimerWrite, TimerWrites } from '../../engine/needs/timers.ts';
import type { Schedule } from '@svc/model/timer';

/** The changes that an append makes to timers, as the writer decodes them. */
export interface AppendedTimers extends TimerWrites {
  readonly isDetached: boolean;
}

type Field = string | number | null;

/** The number of elements before those of the changes. */
const HEAD_FIELDS = 7;
/** The number of elements of each change. */
const FIELDS_PER_CHANGE = 10;

/** Returns the number of elements of `encodeTimers`; 0: the append has no timers, and is not detached. */
export function timerFieldCount({ timers, isDetached }: StoredBeside): number {
  if (timers === undefined && isDetached !== true) return 0;
  return HEAD_FIELDS + (timers?.changes.length ?? 0) * FIELDS_PER_CHANGE;
}

/** Adds the timers of an append to a batch. */
export function encodeTimers(batch: Field[], { timers, isDetached }: StoredBeside): void {
  batch.push(isDetached === true ? 1 : 0);
  const firing = timers?.firing;
  if (firing === undefined) batch.push(null, null, null, null, null, null);
  else {
    const { occurrence, end } = firing;
    batch.push(occurrence.number, occurrence.dueMs, occurrence.attempts, end.kind);
    if (end.kind === 'rearm') batch.push(end.dueMs);
    else batch.push(end.kind === 'retry' ? end.nextMs : null);
    batch.push('fault' in end ? end.fault : null);
  }
  for (const change of timers?.changes ?? []) {
    batch.push(change.name);
    if (change.kind === 'cancel') {
      batch.push(null, null, null, null, null, null, null, null, null);
      continue;
    }
    const { target, command, input, due, attemptsMax, setMs, traceParent } = change;
    batch.push(target.component, target.id, command, input);
    if (due.kind === 'at') batch.push(due.atMs, null);
    else batch.push(null, JSON.stringify(due));
    batch.push(attemptsMax ?? null, setMs, traceParent ?? null);
  }
}

/** Returns the timers whose elements begin at an index; undefined if their number is 0. */
export function decodeTimers(
  batch: readonly Field[],
  at: number,
  count: number,
): AppendedTimers | undefined {
  if (count === 0) return undefined;
  const changes: TimerWrite[] = [];
  for (let change = at + HEAD_FIELDS; change < at + count; change += FIELDS_PER_CHANGE)
    changes.push(changeOf(batch.slice(change, change + FIELDS_PER_CHANGE)));
  const firing = firingOf(batch.slice(at + 1, at + HEAD_FIELDS));
  return { isDetached: batch[at] === 1, firing, changes };
}

function firingOf([
  number,
  dueMs,
  attempts,
  kind,
  ms,
  fault,
]: readonly Field[]): TimerWrites['firing'] {
  if (number === null) return undefined;
  const occurrence = {
    number: Number(number),
    dueMs: Number(dueMs),
    attempts: Number(attempts),
  };
  return { occurrence, end: endOf(kind as FiringEnd['kind'], Number(ms), String(fault)) };
}

function endOf(kind: FiringEnd['kind'], ms: number, fault: string): FiringEnd {
  switch (kind) {
    case 'remove':
      return { kind };
    case 'rearm':
      return { kind, dueMs: ms };
    case 'retry':
      return { kind, nextMs: ms, fault };
    case 'dead':
      return { kind, fault };
  }
}

function changeOf(fields: readonly Field[]): TimerWrite {
  const [name, component, id, command, input, atMs, schedule, ...rest] = fields;
  const [attemptsMax, setMs, traceParent] = rest as [number | null, number, string | null];
  if (component === null) return { kind: 'cancel', name: String(name) };
  return {
    kind: 'set',
    name: String(name),
    target: { component: String(component), id: String(id) },
    command: String(command),
    input: String(input),
    due:
      schedule === null
        ? { kind: 'at', atMs: Number(atMs) }
        : (JSON.parse(String(schedule)) as Schedule),
    attemptsMax: attemptsMax ?? undefined,
    setMs,
    traceParent: traceParent ?? undefined,
  };
}
