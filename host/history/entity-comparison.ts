// EntityComparison folds every incarnation of an entity with a new module and, if there is one, with the previous
// module. Both modules fold a page of the journal before the next page is read. Findings are added to UpgradeFindings.
//
// Invariants
// C1  The events of one entity do not affect the findings of another, except that events which fault are located only
//     for the first LOCATING_ATTEMPTS_MAX attempts of a thread.
// C2  Only a few pages of records are in memory, however long a history is.
// C3  An incarnation with a damaged record is not folded beyond that record.
import type { EntityDescriptor, ModuleDescriptor } from '@svc/contract';
import type { Guest } from '@svc/model/guest';
import type { EntityRef, StoredEvent } from '@svc/model/entity';
import type {
  InspectedRecord,
  JournalInspection,
  ScannedHistory,
} from '../storage/journal-inspection.ts';
import { renamedComponent } from './descriptor-difference.ts';
import { aliasHint } from './likely-rename.ts';
import { type FoldFault, LocatingFold, type SequencedEvent } from './locating-fold.ts';
import { renamedInEvent } from './missing-field.ts';
import { stateDifference } from './state-comparison.ts';
import type { Finding, FindingExample, UpgradeFindings } from './upgrade-finding.ts';

const PAGE_RECORDS_MIN = 16;
const PAGE_RECORDS_MAX = 1_024;
/** Number of UTF-16 units of JSON text in a page above which the next page has fewer records. */
const PAGE_UNITS = 1024 * 1024;
/** Maximum number of attempts per thread to locate the event at which a module faults. A fault may take two. */
const LOCATING_ATTEMPTS_MAX = 200;
/** Maximum length of a fault's text in the description of a problem, in UTF-16 units. */
const PROBLEM_MAX = 500;

export interface ComparisonNeeds {
  readonly inspection: JournalInspection;
  readonly now: Guest;
  readonly before: Guest | undefined;
  readonly findings: UpgradeFindings;
  /** Called with the number of records of every page. */
  readonly foldedRecords: (count: number) => void;
}

type HistoryPage = Omit<ScannedHistory, 'id'>;

/** The folds of one incarnation in both modules. A module without the component folds nothing. */
interface ComparedFolds {
  readonly now: LocatingFold | undefined;
  readonly before: LocatingFold | undefined;
  /** True after a damaged record: the rest of the incarnation is not folded. */
  isDamaged: boolean;
}

export class EntityComparison {
  readonly #needs: ComparisonNeeds;
  #pageRecords = 64;
  #locatingAttempts = 0;
  #entity: EntityRef = { component: '', id: '' };
  /** Findings of the current entity, as name and subject: an entity counts once per finding. */
  readonly #reported = new Set<string>();

  constructor(needs: ComparisonNeeds) {
    this.#needs = needs;
  }

  /** Compares an entity. `first`: the first page of its history. */
  async compare(component: string, first: ScannedHistory): Promise<void> {
    this.#entity = { component, id: first.id };
    this.#reported.clear();
    let folds = this.#begin(0);
    try {
      for (let page: HistoryPage = first; ;) {
        folds = await this.#folded(folds, page.records);
        this.#needs.foldedRecords(page.storedCount);
        if (page.isWhole) {
          await this.#ended(folds, page.lastSeq);
          return;
        }
        page = await this.#page(page.lastSeq);
      }
    } finally {
      closeFolds(folds);
    }
  }

  /** Folds the records. Returns the folds of the incarnation that continues after them. */
  async #folded(begun: ComparedFolds, records: readonly InspectedRecord[]): Promise<ComparedFolds> {
    let folds = begun;
    let run: SequencedEvent[] = [];
    for (const record of records) {
      if (record.kind === 'event') {
        run.push(record);
        continue;
      }
      await this.#fold(folds, run);
      run = [];
      if (record.kind === 'deleted') {
        await this.#ended(folds, record.seq - 1);
        closeFolds(folds);
        folds = this.#begin(record.seq);
      } else {
        folds.isDamaged = true;
        const { seq, problem } = record;
        this.#report('record-damaged', '', 'a record of the journal is damaged', { seq, problem });
      }
    }
    await this.#fold(folds, run);
    return folds;
  }

  /** Begins to fold the incarnation whose first record follows `afterSeq`. */
  #begin(afterSeq: number): ComparedFolds {
    const fold = (guest: Guest | undefined): LocatingFold | undefined => {
      if (guest === undefined || entityOf(guest.descriptor, this.#entity) === undefined)
        return undefined;
      const eventsAfter = (seq: number) => this.#eventsAfter(seq);
      return new LocatingFold({
        entities: guest.entities,
        incarnation: { entity: this.#entity, afterSeq, lastSeq: Infinity, eventsAfter },
        mayLocate: () => ++this.#locatingAttempts <= LOCATING_ATTEMPTS_MAX,
      });
    };
    const { now, before } = this.#needs;
    return { now: fold(now), before: fold(before), isDamaged: false };
  }

  async #fold(folds: ComparedFolds, run: readonly SequencedEvent[]): Promise<void> {
    if (run.length === 0 || folds.isDamaged) return;
    if (folds.now === undefined) this.#reportUnread(run);
    const events = run.map(({ event }) => event);
    await folds.now?.events(events);
    await folds.before?.events(events);
  }

  /**
   * Compares the states at the end of an incarnation. `lastSeq`: sequence number of its last event, or of the record
   * before the incarnation if it has no event.
   */
  async #ended(folds: ComparedFolds, lastSeq: number): Promise<void> {
    if (folds.isDamaged || folds.now === undefined) return;
    const now = await folds.now.state();
    const before = await folds.before?.state();
    const { fault } = folds.now;
    if (fault !== undefined) return this.#reportFault(fault, folds.before?.fault !== undefined);
    if (now === undefined || before === undefined) return;
    const { descriptor } = this.#needs.now;
    const beforeDescriptor = this.#needs.before!.descriptor;
    const difference = stateDifference(
      before,
      now,
      typeOfState(beforeDescriptor, this.#entity),
      typeOfState(descriptor, this.#entity),
    );
    if (difference === undefined) return;
    const { path, pattern } = difference;
    this.#report('state-differs', pattern, `${inState(pattern)} has another value`, {
      seq: lastSeq,
      problem: `${inState(path)} was ${difference.before} and is ${difference.now}`,
    });
  }

  /** Reports events of a component that the new module does not have, once for each manifest. */
  #reportUnread(run: readonly SequencedEvent[]): void {
    const { component } = this.#entity;
    for (const { seq, event } of run) {
      const { manifest } = event;
      if (this.#reported.has(`manifest-unread ${manifest}`)) continue;
      const renamed = renamedComponent(component, manifest, this.#needs.now.descriptor);
      this.#report(
        'manifest-unread',
        manifest,
        `there is no component '${component}' any more, and events '${manifest}' of it are stored` +
          (renamed === undefined ? '' : `; perhaps it was renamed to '${renamed}'`),
        { seq, problem: 'no component reads it' },
      );
    }
  }

  #reportFault({ kind, at, problem }: FoldFault, beforeToo: boolean): void {
    const words = problem.slice(0, PROBLEM_MAX);
    const example = {
      seq: at?.seq,
      problem: beforeToo ? `${words} (so did the version before)` : words,
    };
    if (kind === 'trapped') {
      // The subject is the source location or the broken rule. Numbers are masked because they may differ between
      // entities.
      const subject = /\bat \S+:\d+:\d+/.exec(words)?.[0] ?? words.replaceAll(/\d+/g, '0');
      this.#report('fold-trapped', subject, 'folding stored events faults', example);
      return;
    }
    const manifest = at?.event.manifest;
    const declared = entityOf(this.#needs.now.descriptor, this.#entity)!.event.manifest;
    if (manifest !== undefined && manifest !== declared) {
      const message = `events '${manifest}' are stored, and the new version reads '${declared}'`;
      this.#report('manifest-unread', manifest, message, example);
      return;
    }
    const tag = at === undefined ? undefined : caseOf(at.event.json);
    const [location] = words.split(': ', 1);
    const hint = () => (at === undefined ? '' : this.#hintFor(at.event.json, words));
    const message =
      tag === undefined ? 'stored events are refused' : `stored events '${tag}' are refused`;
    this.#report('event-refused', `${tag ?? ''} ${location}`.trim(), message, example, hint);
  }

  /** Returns advice to append to the message about an event that lacks a field; empty if there is none. */
  #hintFor(json: string, problem: string): string {
    if (!problem.endsWith(': is missing')) return '';
    const { descriptor } = this.#needs.now;
    const { schema } = entityOf(descriptor, this.#entity)!.event;
    const renamed = renamedInEvent(json, schema, descriptor.types);
    return renamed === undefined ? '' : aliasHint(renamed);
  }

  /**
   * Reports a finding. `hint`: computes text to append to the example's problem. The computation parses the event, so
   * `hint` is called only if the example will be listed.
   */
  #report(
    name: Finding['name'],
    subject: string,
    message: string,
    { seq, problem }: Omit<FindingExample, 'id'>,
    hint: () => string = () => '',
  ): void {
    const { component, id } = this.#entity;
    const key = `${name} ${subject}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    const { findings } = this.#needs;
    const finding = { name, component, subject, message };
    const end = findings.keeps(finding, { id, seq }) ? hint() : '';
    findings.add(finding, { id, seq, problem: problem + end });
  }

  /** Reads the page after `afterSeq`, and chooses the number of records of the next page. */
  async #page(afterSeq: number): Promise<HistoryPage> {
    const askedCount = this.#pageRecords;
    const page = await this.#needs.inspection.records(this.#entity, afterSeq, askedCount);
    const units = page.records.reduce((sum, record) => sum + unitsOf(record), 0);
    if (units > PAGE_UNITS) this.#pageRecords = Math.max(PAGE_RECORDS_MIN, askedCount >> 1);
    else if (page.storedCount === askedCount)
      this.#pageRecords = Math.min(PAGE_RECORDS_MAX, askedCount << 1);
    return { ...page, isWhole: page.storedCount < askedCount };
  }

  /** Returns events after `seq`: those of one page, up to the first record that is not an event. */
  async #eventsAfter(seq: number): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = [];
    for (const record of (await this.#page(seq)).records)
      if (record.kind === 'event') events.push(record.event);
      else break;
    return events;
  }
}

function closeFolds({ now, before }: ComparedFolds): void {
  now?.close();
  before?.close();
}

function entityOf(
  descriptor: ModuleDescriptor,
  { component }: EntityRef,
): EntityDescriptor | undefined {
  return descriptor.entities.find((entity) => entity.component === component);
}

function typeOfState(descriptor: ModuleDescriptor, entity: EntityRef) {
  return { type: entityOf(descriptor, entity)!.state.schema, types: descriptor.types };
}

function inState(path: string): string {
  return path === '' ? 'the state' : path;
}

function unitsOf(record: InspectedRecord): number {
  return record.kind === 'event' ? record.event.json.length : 0;
}

/** Returns the tag of the event's case; undefined if it has none. */
function caseOf(json: string): string | undefined {
  try {
    const event: unknown = JSON.parse(json);
    if (typeof event !== 'object' || event === null || !('type' in event)) return undefined;
    return typeof event.type === 'string' ? event.type : undefined;
  } catch {
    return undefined;
  }
}
