// JournalModel: what a journal may hold after the marks of journal-workload.ts, and whether a folder keeps to it.
//
// A journal keeps to it when
//  1  every command that was acknowledged is stored, and every one that was read
//  2  a command is stored whole or not at all, once, in the order in which its entity's commands were sent;
//     what it answered to an idempotency key is a part of it
//  3  what is stored was sent, and was not refused; but a refused one may be found while nothing was stored after
//  4  an entity's sequence numbers have no holes, and the positions have no gaps
//  5  what it held before the workload began is what it was
//  6  an entity has the timer that its stored commands have left it: what was set is there with the command, what was
//     cancelled or fired is gone with it, and what was re-armed, put off or made dead is so with it
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import type { ReplyToStore, StoredReply } from '../../../host/engine/needs/journal.ts';
import type {
  FiredOccurrence,
  FiringEnd,
  StoredTimer,
  TimerWrites,
} from '../../../host/engine/needs/timers.ts';
import type { EntityRef, JournalRecord } from '../../../model/entity.ts';

export const ENTITIES = ['a', 'b', 'c', 'd', 'e'] as const;

/** The entities of the journals of past formats. */
const BEFORE: readonly EntityRef[] = ['c1', 'c2', 'c3'].map((id) => ({
  component: 'shopping-cart',
  id,
}));

/** A command's records carry its number as their time. */
const TIME_BASE_MS = 1_800_000_000_000;
/** Period of the recurring timers. */
const EVERY_MS = 60_000;

/** The end of a firing, of the occurrence that was on disk when the command was sent. */
export interface EndedFiring {
  readonly occurrence: FiredOccurrence;
  readonly end: FiringEnd['kind'];
}

export interface JournalCommand {
  readonly number: number;
  readonly id: string;
  readonly events: number;
  readonly deletes: boolean;
  /** It answers an idempotency key. Only such a one may store no records. */
  readonly keyed: boolean;
  /** It changes the timer of its entity, ends a firing of that timer, or does neither. */
  readonly timer: 'set' | 'set-recurring' | 'cancel' | EndedFiring | 'none';
  /** Characters that make an event larger. */
  readonly padding: number;
}

export function recordsOf(command: JournalCommand, firstSeq: number): readonly JournalRecord[] {
  const { number, events, deletes, padding, keyed } = command;
  const key = keyed ? keyOf(command) : undefined;
  const by = number % 3 === 0 ? `["issuer","user-${number}"]` : undefined;
  const timeMs = TIME_BASE_MS + number;
  const records: JournalRecord[] = Array.from({ length: events }, (_, index) => ({
    kind: 'event',
    seq: firstSeq + index,
    timeMs,
    key,
    by,
    event: {
      manifest: 'crash-event',
      json: JSON.stringify({ type: 'done', number, index, padding: 'x'.repeat(padding) }),
    },
  }));
  if (deletes) records.push({ kind: 'deleted', seq: firstSeq + events, timeMs, key, by });
  return records;
}

/** Of the commands that these records are of. */
export function numbersOf(records: readonly JournalRecord[]): readonly number[] {
  return [...new Set(records.map(({ timeMs }) => timeMs - TIME_BASE_MS))];
}

function keyOf({ number }: JournalCommand): string {
  return `key-${number}`;
}

/** What a command answers to its key, if it has one. */
export function answerOf(command: JournalCommand): ReplyToStore | undefined {
  if (!command.keyed) return undefined;
  const { number } = command;
  return {
    key: keyOf(command),
    digest: `digest of ${number}`,
    timeMs: TIME_BASE_MS + number,
    outcome: { kind: 'reply', json: `"the first reply to ${number}"` },
    retentionMs: Infinity,
  };
}

/** The changes that a command makes to the timer of its entity. */
export function timersOf({ number, timer }: JournalCommand): TimerWrites | undefined {
  if (timer === 'none') return undefined;
  if (timer === 'cancel') return { changes: [{ kind: 'cancel', name: 'timer' }] };
  if (typeof timer === 'object') {
    const { occurrence, end } = timer;
    return { firing: { occurrence, end: endOf(number, end) }, changes: [] };
  }
  const atMs = TIME_BASE_MS + number;
  const target: EntityRef = { component: 'Crash', id: 'target' };
  const set = { command: 'fire', input: `${number}`, attemptsMax: undefined, setMs: atMs };
  const due =
    timer === 'set'
      ? ({ kind: 'at', atMs } as const)
      : ({ kind: 'every', everyMs: EVERY_MS } as const);
  return {
    changes: [{ kind: 'set', name: 'timer', target, due, traceParent: undefined, ...set }],
  };
}

function endOf(number: number, kind: FiringEnd['kind']): FiringEnd {
  const fault = `fault of ${number}`;
  switch (kind) {
    case 'remove':
      return { kind };
    case 'rearm':
      return { kind, dueMs: laterMs(number) };
    case 'retry':
      return { kind, nextMs: laterMs(number), fault };
    case 'dead':
      return { kind, fault };
  }
}

/** The time at which a timer is due that a command has re-armed or put off. */
function laterMs(number: number): number {
  return TIME_BASE_MS + number + 10 * EVERY_MS;
}

/** The part of a timer that commands change. */
type TimerState = Pick<StoredTimer, 'input' | 'dueMs' | 'nextMs' | 'attempts' | 'fault'>;

/** Returns the timer of an entity after a command; undefined if there is none. */
function timerAfter(
  before: TimerState | undefined,
  { number, timer, deletes }: JournalCommand,
): TimerState | undefined {
  const atMs = TIME_BASE_MS + number;
  const fresh = { input: `${number}`, attempts: 0, fault: undefined };
  if (timer === 'set') return { ...fresh, dueMs: atMs, nextMs: atMs };
  if (timer === 'set-recurring')
    return { ...fresh, dueMs: atMs + EVERY_MS, nextMs: atMs + EVERY_MS };
  if (deletes || timer === 'cancel') return undefined;
  if (timer === 'none') return before;
  assert(before !== undefined, `command ${number} is stored, and its timer was gone`);
  const end = endOf(number, timer.end);
  if (end.kind === 'remove') return undefined;
  if (end.kind === 'rearm')
    return { ...before, dueMs: end.dueMs, nextMs: end.dueMs, attempts: 0, fault: undefined };
  const nextMs = end.kind === 'retry' ? end.nextMs : undefined;
  return { ...before, nextMs, attempts: before.attempts + 1, fault: end.fault };
}

export function entityOf({ id }: Pick<JournalCommand, 'id'>): EntityRef {
  return { component: 'Crash', id };
}

/** What is on disk. */
export interface StoredJournal {
  /** All records of an entity. */
  read(entity: EntityRef): readonly JournalRecord[];
  answer(entity: EntityRef, key: string): StoredReply | undefined;
  timers(entity: EntityRef): readonly StoredTimer[];
}

export class JournalModel {
  readonly #sent = new Map<number, JournalCommand>();
  readonly #stored = new Set<number>();
  readonly #refused = new Set<number>();
  /** Since something was stored. */
  readonly #refusedLast = new Set<number>();
  /** What the journal held before, as it was told the first time. */
  #before: string | undefined = undefined;
  readonly refusals = new Map<string, number>();

  mark(text: string): void {
    const [, word, rest] = /^(\w+) ?(.*)$/.exec(text) ?? [];
    if (word === 'sent') {
      const command = JSON.parse(rest!) as JournalCommand;
      this.#sent.set(command.number, command);
    } else if (word === 'stored') {
      this.#stored.add(Number(rest));
      this.#refusedLast.clear();
    } else if (word === 'read') {
      for (const number of rest!.split(' ')) if (number !== '') this.#stored.add(Number(number));
    } else if (word === 'refused') {
      const [number, code] = rest!.split(' ');
      this.#refused.add(Number(number));
      this.#refusedLast.add(Number(number));
      this.refusals.set(code!, (this.refusals.get(code!) ?? 0) + 1);
    } else assert.equal(word, 'end');
  }

  get storedCount(): number {
    return this.#stored.size;
  }

  /** Returns what the stored commands did to timers: the kinds of changes, and of ends of firings. */
  get timerChanges(): ReadonlySet<string> {
    const timers = [...this.#stored].map((number) => this.#sent.get(number)!.timer);
    return new Set(timers.map((timer) => (typeof timer === 'object' ? timer.end : timer)));
  }

  /** Throws when the journal at `path`, which holds what `stored` reads, breaks a rule. */
  check(path: string, stored: StoredJournal): void {
    checkNumbers(path);
    const before = JSON.stringify(BEFORE.map((entity) => stored.read(entity).map(toldWhole)));
    this.#before ??= before;
    assert.equal(before, this.#before, 'what was there before has changed');
    const found = new Set<number>();
    for (const id of ENTITIES) this.#checkEntity(id, stored.read(entityOf({ id })), found);
    for (const command of this.#sent.values())
      if (command.keyed) this.#checkAnswer(command, stored, found);
    for (const id of ENTITIES) this.#checkTimer(id, stored, found);
    for (const number of this.#stored)
      assert(found.has(number), `command ${number} was acknowledged, and is not stored`);
  }

  #checkEntity(id: string, records: readonly JournalRecord[], found: Set<number>): void {
    let last = 0;
    for (let at = 0; at < records.length;) {
      const number = records[at]!.timeMs - TIME_BASE_MS;
      const command = this.#sent.get(number);
      assert(command?.id === id, `what is stored of '${id}' at ${at + 1} was never sent`);
      this.#checkNotRefused(number);
      assert(number > last, `command ${number} is stored after command ${last}`);
      last = number;
      found.add(number);
      const whole = recordsOf(command, at + 1);
      const stored = records.slice(at, at + whole.length);
      assert.deepEqual(stored.map(told), whole.map(told), `command ${number} is not stored whole`);
      at += whole.length;
    }
  }

  #checkAnswer(command: JournalCommand, stored: StoredJournal, found: Set<number>): void {
    const { number, events, deletes } = command;
    const kept = answerOf(command)!;
    const answer = stored.answer(entityOf(command), kept.key);
    const hasRecords = events > 0 || deletes;
    if (hasRecords)
      assert.equal(answer !== undefined, found.has(number), `half of command ${number} is stored`);
    if (answer === undefined) return;
    this.#checkNotRefused(number);
    found.add(number);
    const { retentionMs: _, ...first } = kept;
    assert.deepEqual(answer, first, `command ${number} has another answer than its first`);
  }

  #checkTimer(id: string, stored: StoredJournal, found: ReadonlySet<number>): void {
    let left: TimerState | undefined;
    for (const number of [...found].toSorted((a, b) => a - b)) {
      const command = this.#sent.get(number)!;
      if (command.id === id) left = timerAfter(left, command);
    }
    const timers = stored
      .timers(entityOf({ id }))
      .map(({ input, dueMs, nextMs, attempts, fault }) => ({
        input,
        dueMs,
        nextMs,
        attempts,
        fault,
      }));
    const expected = left === undefined ? [] : [left];
    assert.deepEqual(timers, expected, `the timer of '${id}' is not that of its stored commands`);
  }

  #checkNotRefused(number: number): void {
    assert(
      !this.#refused.has(number) || this.#refusedLast.has(number),
      `command ${number} was refused, and is stored`,
    );
  }
}

function toldWhole(record: JournalRecord): unknown {
  return [...(told(record) as unknown[]), String(record.seed)];
}

/** What the workload gave of a record. */
function told(record: JournalRecord): unknown {
  const { kind, seq, timeMs } = record;
  const { key, by } = record;
  return kind === 'event'
    ? [kind, seq, timeMs, key, by, record.event]
    : [kind, seq, timeMs, key, by];
}

/** Throws when a number is missing or twice there, or the file is damaged. */
export function checkNumbers(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const [problem] = database.prepare('PRAGMA integrity_check').all();
    assert.deepEqual(Object.values(problem ?? {}), ['ok']);
    const lastSeq = new Map<unknown, number>();
    let last = 0;
    for (const { pos, entityNo, seq } of database
      .prepare('SELECT pos, eno AS entityNo, seq FROM journal ORDER BY pos')
      .iterate()) {
      assert.equal(pos, ++last, 'positions have a gap');
      const expected = (lastSeq.get(entityNo) ?? 0) + 1;
      assert.equal(
        seq,
        expected,
        `entity number ${String(entityNo)} has a hole before ${String(seq)}`,
      );
      lastSeq.set(entityNo, expected);
    }
  } finally {
    database.close();
  }
}
