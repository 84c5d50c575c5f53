// ViewVerification checks whether the rows of views depend on the events of each entity alone. It folds the whole journal in
// commit order, and then in two orders that keep each entity's own order: all events of one entity before those of the next,
// from the entity that was stored first to the last, and the other way round. It also compares the rows that a service has
// with those of a fold from nothing up to the same position. All folds leave out the events that were skipped.
//
// Invariants
// V1  Each fold has a guest of its own.
// V2  The rows of all folds are in temporary files: memory does not grow with the journal.
import { SvcError } from '@svc/kit/svc-error';
import type { Feed, Position } from '../engine/needs/feed.ts';
import type { FoldedTo, SkippedEvent } from '../engine/needs/views.ts';
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import { type GuestStarter, guestStarter } from '../hosting/start-guest.ts';
import { GuestFault } from '@svc/model/guest-fault';
import { VIEW_LIMITS_DEFAULT } from '@svc/model/view-limits';
import type { JournalLocation } from '../storage/journal-location.ts';
import { type EntityDirection, openEndedFeed, orderByEntity } from '../storage/journal-reading.ts';
import { scanRows } from '../storage/stored-views.ts';
import { TemporaryRows, type TemporaryTable } from '../storage/views/temporary-rows.ts';
import type { FoldedView } from '../views/folded-view.ts';
import { declaredViews } from '../views/view-definitions.ts';
import type { FoldFeed } from '../views/view-fold.ts';
import type { ViewStopped } from '../views/view-stopped.ts';
import { faultLine } from './fault-line.ts';
import { isOfSource } from './fold-failure.ts';
import type { TypeIn } from './narrowing.ts';
import { stateDifference } from './state-comparison.ts';
import { ViewReplay } from './view-replay.ts';

/** For each check of a view, a description as the end of a sentence. */
export const VIEW_CHECKS = {
  'entity-order': 'when the same events are folded in another order between entities',
  'stored-rows': 'in the rows that the service has, compared with a fold from nothing',
} as const;
export type ViewCheck = keyof typeof VIEW_CHECKS;

/** A row that is different. */
export interface RowExample {
  readonly key: string;
  /** Path of the first difference; empty: the whole row. */
  readonly path: string;
  /** JSON text at the path in the rows of a fold in commit order, truncated. */
  readonly expected: string;
  readonly found: string;
}

export interface ViewFinding {
  readonly way: ViewCheck;
  /** Number of rows that are different. */
  readonly rows: number;
  /** The first few of them. */
  readonly examples: readonly RowExample[];
  /** Why the view has stopped in the other order; undefined: it has not. */
  readonly problem: string | undefined;
}

export interface VerifiedView {
  readonly view: string;
  readonly findings: readonly ViewFinding[];
  /** Why the view could not be checked: damage, or an event at which it stops. */
  readonly failure: SvcError | undefined;
}

export interface ViewVerificationQuestion {
  readonly source: GuestSource;
  readonly settings: HostingSettings;
  readonly location: JournalLocation;
  /** Called with the number of records that were folded, of all folds that are expected. */
  readonly onProgress?: (records: number, recordsTotal: number) => void;
}

const EXAMPLES_MAX = 5;
const ORDERS: readonly EntityDirection[] = ['first-to-last', 'last-to-first'];
const NOTHING = 'nothing';

/**
 * Checks one view after the other. Throws SVC_MODULE_START_FAILED, SVC_PROGRAM_INVALID, SVC_PROCESS_…, SVC_JOURNAL_…
 * and SVC_DATA_UNUSABLE.
 */
export async function* verifyViews(
  question: ViewVerificationQuestion,
): AsyncGenerator<VerifiedView, void> {
  const { source, settings } = question;
  const start = await guestStarter(source, settings);
  const { descriptor, fingerprint } = source;
  const views = declaredViews(descriptor, fingerprint);
  for (const [index, { folded: view }] of views.entries()) {
    const { row } = descriptor.views![index]!;
    const verification = new ViewVerification(question, start, view, {
      type: row,
      types: descriptor.types,
    });
    yield await verification.verified();
  }
}

class ViewVerification {
  readonly #question: ViewVerificationQuestion;
  readonly #start: GuestStarter;
  readonly #view: FoldedView;
  readonly #rowType: TypeIn;
  readonly #rows = new TemporaryRows();
  #skips: readonly SkippedEvent[] = [];
  #foldedCount = 0;

  constructor(
    question: ViewVerificationQuestion,
    start: GuestStarter,
    view: FoldedView,
    rowType: TypeIn,
  ) {
    this.#question = question;
    this.#start = start;
    this.#view = view;
    this.#rowType = rowType;
  }

  async verified(): Promise<VerifiedView> {
    const { id } = this.#view;
    try {
      return { view: id, findings: await this.#findings(), failure: undefined };
    } catch (failure) {
      if (!(failure instanceof SvcError)) throw failure;
      if (isOfSource(failure)) throw failure;
      return { view: id, findings: [], failure };
    } finally {
      this.#rows.close();
    }
  }

  async #findings(): Promise<readonly ViewFinding[]> {
    const { location } = this.#question;
    const stored = this.#rows.table(this.#view.stored, VIEW_LIMITS_DEFAULT);
    // The rows are read before the feed is opened, so that their position is not after its end.
    const scanned = await scanRows(location, this.#view.stored, (rows, isFirst) => {
      if (isFirst) stored.clear();
      stored.copy(rows);
    });
    this.#skips = scanned?.skips ?? [];
    const feed = await openEndedFeed(location);
    try {
      return await this.#findingsIn(feed, scanned?.foldedTo, stored);
    } finally {
      feed.close();
    }
  }

  async #findingsIn(
    feed: Feed,
    foldedTo: FoldedTo | undefined,
    stored: TemporaryTable,
  ): Promise<readonly ViewFinding[]> {
    const total = feed.count(feed.start, feed.end()) * (1 + ORDERS.length);
    const findings: (ViewFinding | undefined)[] = [];
    await this.#folding(feed, total, async (expected) => {
      const storedAt = foldedTo && (await positionIn(feed, foldedTo));
      if (storedAt !== undefined) {
        await expected.to(storedAt);
        this.#checkWhole(expected);
        findings.push(this.#compared('stored-rows', expected.table, stored));
      }
      await expected.to(feed.end());
      this.#checkWhole(expected);
      findings.push(await this.#inOtherOrders(feed, total, expected.table));
    });
    return findings.filter((finding) => finding !== undefined);
  }

  async #inOtherOrders(
    feed: Feed,
    total: number,
    expected: TemporaryTable,
  ): Promise<ViewFinding | undefined> {
    const order = await orderByEntity(this.#question.location, feed, this.#view.sources);
    try {
      for (const direction of ORDERS) {
        let found: ViewFinding | undefined;
        await this.#folding(order.feed(direction), total, async (replay) => {
          await replay.to();
          const { stopped } = replay;
          if (stopped === undefined) found = this.#compared('entity-order', expected, replay.table);
          else found = { way: 'entity-order', rows: 0, examples: [], problem: problemOf(stopped) };
        });
        if (found !== undefined) return found;
      }
      return undefined;
    } finally {
      order.close();
    }
  }

  /** Folds with a guest of its own. */
  async #folding(
    feed: FoldFeed,
    total: number,
    use: (replay: ViewReplay) => Promise<void>,
  ): Promise<void> {
    const guest = this.#start(() => {});
    try {
      const foldedRecords = (count: number) => {
        this.#foldedCount += count;
        this.#question.onProgress?.(this.#foldedCount, Math.max(total, this.#foldedCount));
      };
      await use(
        new ViewReplay({
          view: this.#view,
          guest: guest.views!,
          feed,
          rows: this.#rows,
          skips: this.#skips,
          foldedRecords,
        }),
      );
    } finally {
      await guest.close();
    }
  }

  #compared(
    way: ViewCheck,
    expected: TemporaryTable,
    found: TemporaryTable,
  ): ViewFinding | undefined {
    let rows = 0;
    const examples: RowExample[] = [];
    for (const { key, one, other } of this.#rows.differences(expected, found)) {
      const difference = stateDifference(
        one ?? 'null',
        other ?? 'null',
        this.#rowType,
        this.#rowType,
      );
      // Two texts may have the same fields in another order.
      if (difference === undefined) continue;
      rows++;
      if (examples.length === EXAMPLES_MAX) continue;
      examples.push({
        key,
        path: difference.path,
        expected: one === undefined ? NOTHING : difference.before,
        found: other === undefined ? NOTHING : difference.now,
      });
    }
    return rows === 0 ? undefined : { way, rows, examples, problem: undefined };
  }

  /** Throws SVC_VIEW_STOPPED or SVC_JOURNAL_CORRUPT if a fold has not reached its end. */
  #checkWhole({ stopped, isDamaged }: ViewReplay): void {
    const { id } = this.#view;
    if (stopped !== undefined)
      throw new SvcError('SVC_VIEW_STOPPED', `The view '${id}' stops ${problemOf(stopped)}`);
    if (isDamaged)
      throw new SvcError(
        'SVC_JOURNAL_CORRUPT',
        `The view '${id}' cannot be folded beyond a damaged record; svc journal verify names it.`,
      );
  }
}

function problemOf({ at, message, cause }: ViewStopped): string {
  const line = cause instanceof GuestFault ? faultLine(cause) : undefined;
  return `at event ${at.seq} of entity '${at.entity.id}' of component '${at.entity.component}': ${line ?? message}`;
}

/** Returns the position of the rows; undefined if they belong to another journal, so that a service would build them again. */
async function positionIn(feed: Feed, { position, mark }: FoldedTo): Promise<Position | undefined> {
  const parsed = feed.parse(position);
  return parsed !== undefined &&
    feed.hasReached(feed.end(), parsed) &&
    (await feed.mark(parsed)) === mark
    ? parsed
    : undefined;
}
