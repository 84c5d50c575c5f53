// EndpointViews: the views of a module under test. Their rows are folded from the journal of the test, and handlers and
// tests find them. At the end of the test they are folded again from the same events in other orders, in which only the
// events of each entity keep theirs: the runtime promises no more.
import {
  type EntityRef,
  type FeedRecord,
  type FoldedView,
  type Guest,
  MemoryFeed,
  type MemoryJournal,
  MemoryViews,
  ProcessViews,
  type QueriedViews,
  StoredOrder,
  SvcError,
  VIEW_LIMITS_DEFAULT,
  ViewFold,
  ViewStopped,
  declaredViews,
} from '@svc/host/tools';
import { GuestAccount } from './guest-account.ts';
import { parsed } from './json-value.ts';
import { whatThereIs } from './mistyped-name.ts';
import type { ModuleUnderTest } from './module-under-test.ts';
import { type StackStart, TestFailure, expectEqual, shown } from './test-failure.ts';

/** Rows that a query has found. */
export interface FoundRows<Row> {
  /** In the order of the query. */
  readonly rows: readonly Row[];
  /** Gives the next page; undefined: there is none. */
  readonly cursor: string | undefined;
}

/** The number of rows that a query finds. */
export interface RowCount {
  /** At most 10,000. */
  readonly count: number;
  /** Whether there are more rows than `count`. */
  readonly hasMore: boolean;
}

export interface FindOptions {
  /** Maximum number of rows, 1 to 1,000; 100 by default. */
  readonly limit?: number;
  /** The cursor of the page before. */
  readonly cursor?: string | undefined;
}

interface EndpointViewsNeeds {
  readonly module: ModuleUnderTest;
  readonly guest: Guest;
  readonly journal: MemoryJournal;
  /** Receives the reason why a view has stopped. */
  readonly stopped: (reason: string) => void;
}

const LIMIT_DEFAULT = 100;
/** Records of a page of a fold. */
const PAGE = 1_000;

export class EndpointViews {
  readonly #needs: EndpointViewsNeeds;
  readonly #views: ProcessViews;
  /** Why views have stopped, by their ids. */
  readonly #stops = new Map<string, string>();

  /** The guest has views. */
  constructor(needs: EndpointViewsNeeds) {
    const { guest, journal, stopped } = needs;
    this.#needs = needs;
    this.#views = new ProcessViews({
      guest,
      feed: journal.feed(),
      store: new MemoryViews(),
      limits: VIEW_LIMITS_DEFAULT,
      log: ({ level, fields }) => {
        const { view, component, entity, event, reason, guestMessage = reason } = fields ?? {};
        if (level !== 'error') return;
        const at = `event ${event} of ${component} '${entity}': ${guestMessage}`;
        this.#stops.set(`${view}`, at);
        stopped(`view '${view}', ${at}`);
      },
    });
  }

  /** The views as handlers query them: with all events of the journal, so that the result of a test does not depend on time. */
  get queried(): QueriedViews {
    const { finder } = this.#views;
    const { positions } = finder;
    return {
      positions,
      isCommand: (component, name) => finder.isCommand(component, name),
      haveReached: (after) => finder.haveReached(after),
      find: (query, after = positions.end(), isRequired) => finder.find(query, after, isRequired),
      findAtOnce: (query, after = positions.end()) => finder.findAtOnce(query, after),
    };
  }

  /** Finds rows that have all events of the journal. */
  async find<Row>(
    view: string,
    query: string,
    parameters: unknown,
    { limit = LIMIT_DEFAULT, cursor }: FindOptions,
    stackStart: StackStart,
  ): Promise<FoundRows<Row>> {
    const { finder } = this.#views;
    const input = JSON.stringify(parameters ?? {});
    const asked = { view, query, input, limit, cursor };
    const page = await finder.find(asked, finder.positions.end()).catch((error: unknown) => {
      const stop = this.#stops.get(view);
      if (!(error instanceof SvcError) || error.code !== 'SVC_VIEW_STOPPED' || stop === undefined)
        throw error;
      throw new TestFailure(`find: the view '${view}' has stopped at ${stop}`, stackStart);
    });
    if ('rows' in page)
      return { rows: page.rows.map((row) => parsed(row) as Row), cursor: page.cursor };
    throw new TestFailure(`find: ${shown(page.message)}.${this.#whatThereIs(view)}`, stackStart);
  }

  #whatThereIs(id: string): string {
    const { views = [] } = this.#needs.module.descriptor;
    const ids = views.map((view) => view.id);
    return ids.includes(id) ? '' : whatThereIs(id, ids);
  }

  /** Fails if the rows depend on the order of the events of different entities, or on how these come in pages. */
  async checkOrders(stackStart: StackStart): Promise<void> {
    const { module, journal } = this.#needs;
    const account = new GuestAccount(module.folder);
    const guest = module.start(account.log);
    try {
      const views = declaredViews(guest.descriptor, guest.fingerprint);
      for (const { folded } of views) {
        const records = recordsOf(journal, folded.sources);
        const expected = await foldedRows(guest, folded, records, PAGE);
        if (expected === undefined) continue;
        for (const { how, ordered, page } of otherOrders(records)) {
          const found = await foldedRows(guest, folded, ordered, page);
          expectEqual(found, expected, differentRows(folded.id, how, account), stackStart);
        }
      }
    } finally {
      await guest.close();
    }
  }

  close(): Promise<void> {
    return this.#views.close();
  }
}

function differentRows(view: string, how: string, account: GuestAccount): string {
  return (
    `The rows of view '${view}' are others when its events are folded ${how}. ` +
    'The runtime keeps the order of the events of an entity, and no other: rows must not depend on which of two entities ' +
    'had its event first, nor on variables of the module or of the class. ' +
    `Sort what a row collects, or give each entity a row of its own.${account.logged()}`
  );
}

function recordsOf(journal: MemoryJournal, sources: ReadonlySet<string>): readonly FeedRecord[] {
  const feed = journal.feed();
  const records: FeedRecord[] = [];
  for (let at = feed.start; at !== feed.end();) {
    const page = feed.read(at, PAGE, sources);
    records.push(...page.records);
    at = page.position;
  }
  feed.close();
  return records;
}

interface OtherOrder {
  /** How the events are folded, for a message. */
  readonly how: string;
  readonly ordered: readonly FeedRecord[];
  readonly page: number;
}

/** Returns the records in orders in which those of each entity stay in theirs. */
function otherOrders(records: readonly FeedRecord[]): readonly OtherOrder[] {
  const byEntity = [...Map.groupBy(records, ({ entity }) => keyOf(entity)).values()];
  const rounds = Array.from({ length: Math.max(0, ...byEntity.map((list) => list.length)) });
  return [
    { how: 'one by one', ordered: records, page: 1 },
    { how: 'entity after entity', ordered: byEntity.flat(), page: PAGE },
    {
      how: 'entity after entity, the last one first',
      ordered: byEntity.toReversed().flat(),
      page: PAGE,
    },
    {
      how: 'with one event of each entity in turn, those of the last entity first',
      ordered: rounds.flatMap((_, round) =>
        byEntity.toReversed().flatMap((list) => list[round] ?? []),
      ),
      page: PAGE,
    },
  ];
}

function keyOf({ component, id }: EntityRef): string {
  return `${component}\n${id}`;
}

/** Folds records into rows, by their keys; returns undefined if the view stops, which the test has been told. */
async function foldedRows(
  guest: Guest,
  view: FoldedView,
  records: readonly FeedRecord[],
  page: number,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const order = new StoredOrder();
  order.records.push(...records);
  const rows = new Map<string, string>();
  const fold = new ViewFold({
    view,
    guest: guest.views!,
    feed: new MemoryFeed(order),
    writer: {
      rows: (keys) => keys.map((key) => rows.get(key)),
      put(changes) {
        for (const { key, json } of changes)
          if (json === undefined) rows.delete(key);
          else rows.set(key, json);
      },
    },
    foldedTo: undefined,
    limits: VIEW_LIMITS_DEFAULT,
  });
  try {
    // oxlint-disable-next-line no-await-in-loop -- each page follows the one before it
    while (await fold.step(page));
  } catch (error) {
    if (error instanceof ViewStopped) return undefined;
    throw error;
  }
  const keys = [...rows.keys()].toSorted();
  return Object.fromEntries(keys.map((key) => [key, parsed(rows.get(key)!)]));
}
