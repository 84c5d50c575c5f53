// HistoryWalk iterates over the records of an entity, across its incarnations, and makes a step for each requested
// record: its changes and the state after it, computed with a module's folds. After a damaged record, or an event
// that the module cannot fold, the state is unknown until the incarnation ends, and each step says why. A walk
// visits the records in order, and each of them once.
import type { HistoryStep, StateChange } from '@svc/contract';
import { authorOf } from '@svc/contract/author';
import type { GuestEntities } from '@svc/model/guest';
import type { EntityRef, JournalRecord, StoredEvent } from '@svc/model/entity';
import type { InspectedRecord, JournalInspection } from '../storage/journal-inspection.ts';
import { LocatingFold } from './locating-fold.ts';
import { stateChanges } from './state-changes.ts';

/** Maximum length of a state in a step, in UTF-16 units; a longer state is omitted. */
const STATE_UNITS_MAX = 256 * 1024;
/** Maximum length of the two states of a comparison together, in UTF-16 units; longer states count as one change. */
const COMPARED_UNITS_MAX = 1024 * 1024;
/** Limit for the listed changes of a step, in UTF-16 units; further changes are only counted. */
const CHANGES_UNITS_MAX = 256 * 1024;
/** Number of events that are read or collected before they are folded. */
const FOLDED_EVENTS = 512;
const LAST_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const TRACE_ID = /^[0-9a-f]{32}$/;

export class HistoryWalk {
  /** Sequence number of the last visited record; 0 before the first. */
  seq = 0;
  readonly #inspection: JournalInspection;
  readonly #entities: GuestEntities | undefined;
  readonly #entity: EntityRef;
  #fold: LocatingFold | undefined;
  /** The reason why the state is unknown until the incarnation ends. */
  #problem: string | undefined;
  /** Events of this incarnation that are not yet folded. */
  #events: StoredEvent[] = [];

  constructor(
    inspection: JournalInspection,
    entities: GuestEntities | undefined,
    entity: EntityRef,
  ) {
    this.#inspection = inspection;
    this.#entities = entities;
    this.#entity = entity;
    this.#begin();
  }

  /** Applies the record without computing its step. */
  async pass(record: InspectedRecord): Promise<void> {
    this.seq = record.seq;
    if (record.kind === 'deleted') this.#begin();
    else if (record.kind === 'damaged') this.#stopFolding(damageOf(record));
    else if (this.#events.push(record.event) >= FOLDED_EVENTS) await this.#foldEvents();
  }

  async step(record: InspectedRecord): Promise<HistoryStep> {
    // A deletion ends the state; the next record is applied to an empty state.
    const before = record.kind === 'deleted' ? undefined : await this.#state();
    await this.pass(record);
    const state = await this.#state();
    const isCut = state !== undefined && state.length > STATE_UNITS_MAX;
    return {
      ...recordPart(record),
      ...changesBetween(before, state),
      state: isCut ? null : (state ?? null),
      stateCut: isCut,
      problem: this.#problem ?? null,
    };
  }

  close(): void {
    this.#fold?.close();
    this.#fold = undefined;
  }

  #begin(): void {
    this.close();
    this.#events = [];
    this.#problem = undefined;
    if (this.#entities === undefined) {
      this.#problem = 'The module has no such component, so it cannot fold these events.';
      return;
    }
    this.#fold = new LocatingFold({
      entities: this.#entities,
      incarnation: {
        entity: this.#entity,
        afterSeq: this.seq,
        lastSeq: Infinity,
        eventsAfter: (seq) => this.#eventsAfter(seq),
      },
      mayLocate: () => true,
    });
  }

  #stopFolding(problem: string): void {
    this.close();
    this.#problem ??= problem;
  }

  async #foldEvents(): Promise<void> {
    const events = this.#events.splice(0);
    if (this.#fold === undefined || events.length === 0) return;
    await this.#fold.events(events);
    this.#checkFault();
  }

  async #state(): Promise<string | undefined> {
    await this.#foldEvents();
    const state = await this.#fold?.state();
    this.#checkFault();
    return state;
  }

  #checkFault(): void {
    const fault = this.#fold?.fault;
    if (fault === undefined) return;
    const what = fault.at === undefined ? 'make the state' : `fold record ${fault.at.seq}`;
    this.#stopFolding(`The module cannot ${what}: ${fault.problem}`);
  }

  async #eventsAfter(seq: number): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = [];
    const { records } = await this.#inspection.records(this.#entity, seq, FOLDED_EVENTS);
    for (const record of records)
      if (record.kind === 'event') events.push(record.event);
      else break;
    return events;
  }
}

type RecordPart = Pick<
  HistoryStep,
  'seq' | 'kind' | 'time' | 'manifest' | 'type' | 'event' | 'traceId' | 'key' | 'by'
>;

function recordPart(record: InspectedRecord): RecordPart {
  const { seq, kind } = record;
  const none = {
    time: null,
    manifest: null,
    type: null,
    event: null,
    traceId: null,
    key: null,
    by: null,
  };
  if (record.kind === 'damaged') return { seq, kind, ...none };
  const { timeMs, trace, key, by } = record;
  const origin = {
    ...none,
    seq,
    kind,
    time: timeText(timeMs),
    traceId: trace !== undefined && TRACE_ID.test(trace) ? trace : null,
    key: key ?? null,
    by: authorOf(by) ?? null,
  };
  if (record.kind === 'deleted') return origin;
  const { manifest, json } = record.event;
  return { ...origin, manifest, type: typeOf(json), event: json };
}

function typeOf(json: string): string | null {
  try {
    const { type } = JSON.parse(json) as { readonly type?: unknown };
    return typeof type === 'string' ? type : null;
  } catch {
    return null;
  }
}

/** Formats a time as ISO 8601 in UTC. Returns null for a time before 1970 or after 9999. */
export function timeText(ms: number): string | null {
  return ms >= 0 && ms <= LAST_TIME_MS ? new Date(ms).toISOString() : null;
}

function changesBetween(
  before: string | undefined,
  after: string | undefined,
): Pick<HistoryStep, 'changes' | 'moreChanges'> {
  if (before === undefined || after === undefined || before === after)
    return { changes: [], moreChanges: 0 };
  if (before.length + after.length > COMPARED_UNITS_MAX) return { changes: [], moreChanges: 1 };
  const { changes, moreCount } = stateChanges(before, after);
  const listed: StateChange[] = [];
  let units = 0;
  for (const change of changes) {
    units += (change.before?.length ?? 0) + (change.after?.length ?? 0);
    if (units > CHANGES_UNITS_MAX) break;
    listed.push({
      path: jsonPath(change.path),
      before: change.before ?? null,
      after: change.after ?? null,
    });
  }
  return { changes: listed, moreChanges: moreCount + changes.length - listed.length };
}

function jsonPath(path: string): string {
  return path === '' || path.startsWith('[') ? `$${path}` : `$.${path}`;
}

function damageOf(record: Exclude<InspectedRecord, JournalRecord>): string {
  return `Record ${record.seq} is damaged: ${record.problem}.`;
}
