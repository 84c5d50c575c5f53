// FollowedOrders: the module of orders whose timers, view and consumer follow their events, and what the journal says of them.
// Each placed order has a deadline of its own, whose command faults now and then; a placement may also set a timer that
// always fails; a recurring timer ticks. A mirror notes the number of each event that a consumer has delivered.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { buildComponent } from '../../../guest-sdk/compiler/index.ts';
import type { JournalReader } from '../../../host/storage/sqlite/journal-reader.ts';
import type { JournalRecord } from '../../../model/entity.ts';

/** Placements with these numbers set a timer that dies. */
export function isDoomed(number: number): boolean {
  return number % 20 === 7;
}
const TICK_MS = 1_000;

const SOURCE = `import { Consumer, Context, Done, Due, Effect, EventContext, EventSourcedEntity, Page, Result, RowChange, Start, Verdict, View, register } from "@svc/guest-sdk";

@data class Placement { number: i32 = 0; delayMs: i32 = 0; isDoomed: bool = false; }
@data class Counts { placed: i32 = 0; expired: i32 = 0; ticks: i32 = 0; }
@data("order-event") abstract class OrderEvent {}
@variant("placed") class Placed extends OrderEvent { constructor(public number: i32) { super(); } }
@variant("expired") class Expired extends OrderEvent { constructor(public number: i32) { super(); } }
@variant("ticked") class Ticked extends OrderEvent { constructor(public dueMs: string) { super(); } }

@entity("order") class Order extends EventSourcedEntity<Counts, OrderEvent> {
  empty(id: string): Counts { return new Counts(); }
  apply(state: Counts, event: OrderEvent): Counts {
    if (event instanceof Placed) state.placed += 1;
    else if (event instanceof Expired) state.expired += 1;
    else if (event instanceof Ticked) state.ticks += 1;
    return state;
  }
  @command("place") place(state: Counts, input: Placement, context: Context): Effect<Done> {
    const id = context.entityId;
    const number = input.number.toString();
    const placed = this.persist(new Placed(input.number)).thenSetTimer("expire-" + number, Due.after(input.delayMs), OrderCall.expire(id, input.number));
    if (input.isDoomed) placed.thenSetTimer("doom-" + number, Due.after(input.delayMs), OrderCall.fail(id), 1);
    if (state.placed == 0) placed.thenSetTimer("tick", Due.every(${TICK_MS}), OrderCall.tick(id));
    return placed.thenReply(new Done());
  }
  @command("expire") expire(state: Counts, number: i32, context: Context): Effect<Done> {
    if (context.nowMs % 5 == 0) throw new Error("a moment at which it fails");
    return this.persist(new Expired(number)).thenReply(new Done());
  }
  @command("fail") fail(state: Counts): Effect<Done> {
    throw new Error("it always fails");
  }
  @command("tick") tick(state: Counts, context: Context): Effect<Done> {
    return this.persist(new Ticked(context.metadata("timer-due-ms")!)).thenReply(new Done());
  }
  @command("quiet") quiet(state: Counts): Effect<Done> {
    return this.cancelTimer("tick").thenReply(new Done());
  }
}

@data class Noted { events: i32 = 0; }
@data("mirror-event") abstract class MirrorEvent {}
@variant("noted") class WasNoted extends MirrorEvent { constructor(public seq: string) { super(); } }
@entity("mirror") class Mirror extends EventSourcedEntity<Noted, MirrorEvent> {
  empty(id: string): Noted { return new Noted(); }
  apply(state: Noted, event: MirrorEvent): Noted { state.events += 1; return state; }
  @command("note") note(state: Noted, seq: string): Effect<Done> {
    return this.persist(new WasNoted(seq)).thenReply(new Done());
  }
}
@consumer("copy", Start.beginning) class Copy extends Consumer {
  @on("order") onOrder(event: OrderEvent, context: EventContext): Verdict {
    const noted = new MirrorClient(context.entityId).note(context.seq.toString());
    return noted.isOk ? this.done() : this.retry(noted.message);
  }
}

@data class Row { id: string = ""; placed: i32 = 0; expired: i32 = 0; ticks: i32 = 0; }
@view("orders") class Orders extends View<Row> {
  @from("order") onOrder(row: Row | null, event: OrderEvent, context: EventContext): RowChange<Row> {
    const next = row === null ? new Row() : row;
    next.id = context.entityId;
    if (event instanceof Placed) next.placed += 1;
    else if (event instanceof Expired) next.expired += 1;
    else if (event instanceof Ticked) next.ticks += 1;
    return this.put(next);
  }
}
@data @find("orders", "all", "") class AllOrders {}

@endpoint("/orders") @access("internet") class OrderEndpoint {
  @post("/{id}") place(id: string, placement: Placement): Result<Done> { return new OrderClient(id).place(placement); }
  @post("/{id}/quiet") quiet(id: string): Result<Done> { return new OrderClient(id).quiet(); }
  @get("/rows") rows(): Result<Page<Row>> { return new OrdersClient().all(new AllOrders(), 1000); }
}
register<Order>();
register<Mirror>();
register<Copy>();
register<Orders>();
register<OrderEndpoint>();
`;

/** Builds the module into a file. `definition`: that of its view. */
export async function buildOrders(
  entryFile: string,
  module: string,
  definition = '1',
): Promise<void> {
  mkdirSync(dirname(entryFile), { recursive: true });
  writeOrders(entryFile, definition);
  writeFileSync(module, (await buildComponent({ entryFile })).component);
}

/** Writes the source into a file. `definition`: that of its view. */
export function writeOrders(file: string, definition = '1'): void {
  writeFileSync(file, SOURCE.replace('@view("orders")', `@view("orders", "${definition}")`));
}

/** The row of an order, without its id. */
export interface OrderCounts {
  readonly placed: number;
  readonly expired: number;
  readonly ticks: number;
}

/** What the journal holds of one order. */
export interface StoredOrder {
  readonly counts: OrderCounts;
  readonly placed: ReadonlySet<number>;
  /** Placements whose deadline has not fired yet. */
  readonly open: ReadonlySet<number>;
  /** Events that the mirror has not noted yet. */
  readonly unnoted: number;
}

/** Reads an order and its mirror. Throws as `storedOrder` does. */
export function readOrder(reader: JournalReader, id: string): StoredOrder {
  const read = (component: string) => reader.read({ component, id }, 0, Number.MAX_SAFE_INTEGER);
  // The mirror first: in a running service it notes events while the order is read.
  const mirror = read('mirror');
  return storedOrder(id, read('order'), mirror);
}

/**
 * Returns what the records of an order and of its mirror say. Throws if a placement or a deadline is there twice, a deadline without
 * its placement, an occurrence of the recurring timer twice or off its schedule, or if the mirror has left out or repeated an event.
 */
export function storedOrder(
  id: string,
  order: readonly JournalRecord[],
  mirror: readonly JournalRecord[],
): StoredOrder {
  const noted = eventsOf(mirror).map(({ seq }) => Number(seq));
  const placed = new Set<number>();
  const open = new Set<number>();
  const ticksMs: number[] = [];
  const events = eventsOf(order);
  for (const { type, number = 0, dueMs } of events)
    if (type === 'placed') {
      assert(!placed.has(number), `${id}: placement ${number} is stored twice`);
      placed.add(number);
      open.add(number);
    } else if (type === 'expired')
      assert(
        open.delete(number),
        `${id}: the deadline of ${number} has fired twice, or without it`,
      );
    else ticksMs.push(Number(dueMs));
  for (const [index, dueMs] of ticksMs.entries()) {
    assert(index === 0 || dueMs > ticksMs[index - 1]!, `${id}: an occurrence has fired twice`);
    assert.equal((dueMs - ticksMs[0]!) % TICK_MS, 0, `${id}: an occurrence is off the schedule`);
  }
  assert.deepEqual(
    noted,
    Array.from(noted, (_, index) => index + 1),
    `${id}: events were not noted once each`,
  );
  assert(noted.length <= events.length, `${id}: more was noted than happened`);
  return {
    counts: { placed: placed.size, expired: placed.size - open.size, ticks: ticksMs.length },
    placed,
    open,
    unnoted: events.length - noted.length,
  };
}

interface OrderEvent {
  readonly type: string;
  readonly number?: number;
  readonly dueMs?: string;
  readonly seq?: string;
}

function eventsOf(records: readonly JournalRecord[]): readonly OrderEvent[] {
  return records.flatMap((record) =>
    record.kind === 'event' ? [JSON.parse(record.event.json) as OrderEvent] : [],
  );
}
