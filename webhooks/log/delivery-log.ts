// DeliveryLog: the deliveries of a tenant, over all segments (document 3, "Delivery log entry").
//
// Invariants
// - A segment has later events than the one before it, so the log is walked from the newest segment on, and each page is one walk of one
//   index in one segment or two.
// - A delivery of another tenant, one that has expired, and one of the tenant's life before it was removed are as if there were none.
import { createHash } from 'node:crypto';
import type { LogAttempt, LogEntry, LogEntryWithBody } from '@svc/client';
import { Ok, refuse, type Page, type Refused, type Result, type ValueOf } from '@svc/host';
import type { Clock } from '@svc/kit/clock';
import { KEPT_MS, RUN_ENDS_MS } from '../model/attempt-schedule.ts';
import { delivery, type Entry } from '../model/delivery.ts';
import { segmentOfDelivery } from '../model/ids.ts';
import type { Segment, Segments } from '../segments/segments.ts';
import { logView, type LogRow } from '../views/log-view.ts';
import type { EventBodies } from './event-bodies.ts';
import type { LogCursors, LogFilters } from './log-cursors.ts';
import { OwnWrites } from './own-writes.ts';

export interface LogQuery extends LogFilters {
  readonly limit: number;
  /** The cursor of the page before. */
  readonly cursor?: string;
}

export interface LogPage {
  readonly entries: readonly LogEntry[];
  /** Undefined: there are no more. */
  readonly cursor: string | undefined;
}

/** The tenant's subscriptions, as far as the log asks for them. */
export interface LogSubscriptions {
  find(tenant: string, id: string): Promise<unknown>;
  removedAtMs(tenant: string): Promise<number | undefined>;
}

export interface DeliveryLogOptions {
  readonly segments: Pick<Segments, 'find' | 'newestFirst'>;
  readonly subscriptions: LogSubscriptions;
  readonly bodies: EventBodies;
  readonly cursors: LogCursors;
  readonly clock: Clock;
  /** Receives each delivery whose next attempt is due. */
  readonly due: (segment: Segment, id: string, entry: ValueOf<typeof Entry>, next: Next) => void;
}

type Next = { readonly run: number; readonly number: number; readonly dueAtMs: number };
type Row = ValueOf<typeof LogRow>;
type Attempts = Row['attempts'];

const NO_SUCH_DELIVERY = 'there is no such delivery';
const SUBSCRIPTION_DELETED =
  'the subscription of the delivery is deleted, so there is nobody to whom it could be sent again';
/** Queries of views for one page. One that has fewer entries than it may have then names the next page. */
const READS_MAX = 20;
/** Age of the oldest cursor that is taken. */
const CURSOR_MS_MAX = 86_400_000;
const WRONG_CURSOR = 'cursor: is none that a page of this query had';

export class DeliveryLog {
  readonly #options: DeliveryLogOptions;
  readonly #ownWrites = new OwnWrites();

  constructor(options: DeliveryLogOptions) {
    this.#options = options;
  }

  async list(tenant: string, query: LogQuery): Promise<Result<LogPage>> {
    const { segments, clock, cursors } = this.#options;
    const shownSinceMs = await this.#sinceMs(tenant);
    const nowMs = clock.nowMs();
    // A run that is under way when its delivery expires is found by its id alone.
    const listedSinceMs = Math.max(shownSinceMs, nowMs - KEPT_MS);
    const begin =
      query.cursor === undefined
        ? { segment: Number.POSITIVE_INFINITY, sinceMs: listedSinceMs, cursor: undefined }
        : cursors.positionOf(tenant, query, query.cursor);
    if (begin === undefined || begin.sinceMs < listedSinceMs - CURSOR_MS_MAX)
      return refuse(WRONG_CURSOR, 'BAD_REQUEST');
    const entries: LogEntry[] = [];
    let reads = 0;
    // A cursor belongs to the time with which the walk has begun. The time of now decides about what is shown.
    const { sinceMs } = begin;
    let { cursor } = begin;
    for (const segment of segments.newestFirst) {
      if (segment.number > begin.segment) continue;
      if (segment.number < begin.segment) cursor = undefined;
      do {
        const left = query.limit - entries.length;
        if (left === 0 || reads === READS_MAX)
          return new Ok({
            entries,
            cursor: cursors.textOf(tenant, query, { segment: segment.number, sinceMs, cursor }),
          });
        // oxlint-disable-next-line no-await-in-loop -- a page begins where the one before has ended
        const page = await this.#rowsOf(segment, query, { tenant, sinceMs, limit: left, cursor });
        if (!page.isOk) return refuse(WRONG_CURSOR, 'BAD_REQUEST');
        reads++;
        // Those of a cursor may have expired since, and then all that follow in the segment.
        const rows = page.value.rows.filter((row) => row.occurredAtMs >= listedSinceMs);
        entries.push(...rows.map((row) => entryOf(row.id, row)));
        cursor = rows.length < page.value.rows.length ? undefined : page.value.cursor;
      } while (cursor !== undefined);
    }
    return new Ok({ entries, cursor: undefined });
  }

  /** Returns a delivery with the body of its event. */
  async entry(tenant: string, id: string): Promise<Result<LogEntryWithBody>> {
    const found = await this.#find(tenant, id);
    if ('isOk' in found) return found;
    const { segment, entry } = found;
    const body = await this.#options.bodies.read(segment, entry.about);
    return new Ok({ ...shownOf(id, entry), body });
  }

  /** Begins another run of a delivery that is delivered or exhausted; with the idempotency key of the last run, none. */
  async retry(tenant: string, id: string, key?: string): Promise<Result<LogEntry>> {
    const found = await this.#find(tenant, id);
    if ('isOk' in found) return found;
    const { segment, entry } = found;
    const { subscriptions, due } = this.#options;
    if ((await subscriptions.find(tenant, entry.about.subscription)) === undefined)
      return refuse(SUBSCRIPTION_DELETED, 'CONFLICT');
    const retried = await segment.service
      .call(delivery, id)
      .retry(key === undefined ? {} : { request: requestOf(key) });
    if (!retried.isOk) return retried;
    this.#ownWrites.add(tenant, segment);
    const { next, entry: after } = retried.value;
    if (next !== null) due(segment, id, after, next);
    return new Ok(shownOf(id, after));
  }

  /** Returns rows of a segment; none if it is removed meanwhile, as all of them have expired. */
  async #rowsOf(segment: Segment, query: LogQuery, page: PageOf): Promise<Result<Page<Row>>> {
    try {
      return await rowsOf(segment, query, page, this.#ownWrites.of(page.tenant, segment));
    } catch (error) {
      if (this.#options.segments.find(segment.number) === segment) throw error;
      return new Ok({ rows: [], cursor: undefined, asOfMs: this.#options.clock.nowMs() });
    }
  }

  async #find(
    tenant: string,
    id: string,
  ): Promise<Refused | { readonly segment: Segment; readonly entry: ValueOf<typeof Entry> }> {
    const number = segmentOfDelivery(id);
    const segment = number === undefined ? undefined : this.#options.segments.find(number);
    if (segment === undefined) return refuse(NO_SUCH_DELIVERY, 'NOT_FOUND');
    const entry = await segment.service.call(delivery, id).entry();
    if (!entry.isOk) return entry;
    const { about } = entry.value;
    if (about.tenant !== tenant || about.occurredAtMs < (await this.#sinceMs(tenant)))
      return refuse(NO_SUCH_DELIVERY, 'NOT_FOUND');
    return { segment, entry: entry.value };
  }

  /** Returns the time before which nothing is shown. */
  async #sinceMs(tenant: string): Promise<number> {
    const removedAtMs = (await this.#options.subscriptions.removedAtMs(tenant)) ?? 0;
    return Math.max(removedAtMs, this.#options.clock.nowMs() - RUN_ENDS_MS);
  }
}

interface PageOf {
  readonly tenant: string;
  readonly sinceMs: number;
  readonly limit: number;
  readonly cursor: string | undefined;
}

function rowsOf(
  { service }: Segment,
  { outcome, subscription, dataset, eventId }: LogQuery,
  { limit, cursor, ...common }: PageOf,
  after: string | undefined,
): Promise<Result<Page<Row>>> {
  const rows = service.view(logView, after === undefined ? {} : { after });
  if (subscription !== undefined)
    return outcome === undefined
      ? rows.ofSubscription({ ...common, subscription }, limit, cursor)
      : rows.ofSubscriptionAndOutcome({ ...common, subscription, outcome }, limit, cursor);
  if (outcome !== undefined) return rows.ofOutcome({ ...common, outcome }, limit, cursor);
  if (dataset !== undefined) return rows.ofDataset({ ...common, dataset }, limit, cursor);
  if (eventId !== undefined) return rows.ofEvent({ ...common, eventId }, limit, cursor);
  return rows.all(common, limit, cursor);
}

/** Keys are up to 255 bytes, and stay in the journal. */
function requestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

function entryOf(id: string, row: Omit<Row, 'id' | 'tenant'>): LogEntry {
  const { subscription, eventId, eventType, dataset, url, outcome, error } = row;
  return {
    id,
    subscriptionId: subscription,
    eventId,
    eventType,
    datasetId: dataset === '' ? null : dataset,
    url,
    outcome,
    error,
    occurredAt: timeOf(row.occurredAtMs),
    nextAttemptAt: row.nextAttemptAtMs === null ? null : timeOf(row.nextAttemptAtMs),
    attempts: attemptsOf(row.attempts),
  };
}

function shownOf(id: string, { about, ...entry }: ValueOf<typeof Entry>): LogEntry {
  return entryOf(id, { ...about, ...entry, dataset: about.dataset ?? '' });
}

function attemptsOf(attempts: Attempts): readonly LogAttempt[] {
  return attempts.map(({ run, number, atMs, status, error, durationMs }) => ({
    run,
    number,
    time: timeOf(atMs),
    status,
    error,
    durationMs,
  }));
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
