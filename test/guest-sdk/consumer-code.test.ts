// What the compiler makes of consumers: their descriptor, and the code by which they get events and answer with verdicts.
import { afterAll, describe, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import type { Guest, HostCalls } from '../../model/guest.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import type { EntityEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { answering, context } from '../suites/hosting-suite.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { QUERY, UserProjects, entity } from './support/user-projects.ts';

const projects = await UserProjects.open();
const guests: Guest[] = [];
afterAll(async () => {
  for (const guest of guests) await guest.close();
  await projects.remove();
});

const OTHER = `@data class OtherState { n: i32 = 0; }
@data abstract class OtherEvent {}
@variant("happened") class Happened extends OtherEvent { constructor(public text: string) { super(); } }
@entity("other") class Other extends EventSourcedEntity<OtherState, OtherEvent> {
  empty(id: string): OtherState { return new OtherState(); }
  apply(state: OtherState, event: OtherEvent): OtherState { state.n += 1; return state; }
  @command("note") note(state: OtherState, text: string): Effect<Done> { return this.persist(new Happened(text)).thenReply(new Done()); }
}
@data class Row { text: string = ""; }
@view("rows") class Rows extends View<Row> {
  @from("other") on(row: Row | null, event: OtherEvent): RowChange<Row> { return this.keep(); }
}
@data @find("rows", "all", "") class AllRows {}
register<Other>();
register<Rows>();`;

/** Returns a guest whose consumer `ledger` has these methods. */
async function guestOf(methods: string): Promise<Guest> {
  const entryFile = await projects.write({
    'index.ts': `import { Consumer, Due, EventContext, RowChange, Start, Timers, Verdict, View } from "@svc/guest-sdk";
import * as svc from "@svc/guest-sdk";
@consumer("ledger", svc.Start.now) class Ledger extends Consumer {
${methods}
}
${entity(QUERY)}
${OTHER}
register<Ledger>();`,
  });
  const { component } = await buildComponent({ entryFile, optimizeLevel: 0 });
  const guest = await createWasmGuest(component);
  guests.push(guest);
  return guest;
}

const event = (component: string, json: string): EntityEvent => ({
  entity: { component, id: 'ö1' },
  seq: 7,
  timeMs: 1_700_000_000_001,
  event: { manifest: component === 'thing' ? 'Event' : 'OtherEvent', json },
});
const added = event('thing', '{"type":"added"}');
const happened = event('other', '{"type":"happened","text":"x"}');
const done = answering({ kind: 'reply', json: 'null' });

test('the descriptor has the consumers, and that of a module without any has no member for them', async () => {
  const guest = await createWasmGuest(await compileFixture('order-bookkeeping'));
  guests.push(guest);
  expect(guest.descriptor.consumers).toEqual([
    { id: 'bookkeeping', sources: ['order'], start: 'beginning' },
  ]);
  expect(Object.keys(guest.descriptor)).not.toContain('views');
  const without = await createWasmGuest(await compileFixture('order-list'));
  guests.push(without);
  expect(Object.keys(without.descriptor)).not.toContain('consumers');
  expect(without.consumers).toBeUndefined();
});

describe('a consumer', () => {
  test('gets the events of each of its sources in their own method, with their context', async () => {
    const guest = await guestOf(`
      @on("thing") onThing(event: Event, context: EventContext): Verdict {
        return this.skip("thing " + context.entityId + " " + context.seq.toString() + " " + context.timeMs.toString() + "|" + context.key);
      }
      @on("other") onOther(event: OtherEvent): Verdict { return this.retry("other " + (event as Happened).text); }`);
    expect(guest.descriptor.consumers).toEqual([
      { id: 'ledger', sources: ['thing', 'other'], start: 'now' },
    ]);
    const consumers = guest.consumers!;
    expect(await consumers.handle(context, 'ledger', added, done)).toEqual({
      kind: 'skip',
      reason: 'thing ö1 7 1700000000001|',
    });
    expect(await consumers.handle(context, 'ledger', happened, done)).toEqual({
      kind: 'retry',
      reason: 'other x',
      afterMs: undefined,
    });
  });

  test('answers with any pause, with well-formed text, and refuses with a code', async () => {
    const guest = await guestOf(`
      @on("other") onOther(event: OtherEvent): Verdict {
        const text = (event as Happened).text;
        if (text == "now") return this.retry("a\\ud800", 0);
        if (text == "late") return this.retry("", i64.MAX_VALUE);
        if (text == "before") return this.retry("", i64.MIN_VALUE);
        if (text == "gone") return this.refuse("not here", Code.NOT_FOUND);
        return this.refuse("no");
      }`);
    const handled = (text: string) =>
      guest.consumers!.handle(
        context,
        'ledger',
        event('other', JSON.stringify({ type: 'happened', text })),
        done,
      );
    expect(await handled('now')).toEqual({ kind: 'retry', reason: 'a\ufffd', afterMs: 0 });
    expect(await handled('late')).toMatchObject({ afterMs: 2 ** 63 });
    expect(await handled('before')).toMatchObject({ afterMs: undefined });
    expect(await handled('gone')).toMatchObject({
      kind: 'refusal',
      code: 'NOT_FOUND',
      message: 'not here',
    });
    expect(await handled('else')).toMatchObject({ kind: 'refusal', code: 'UNPROCESSABLE' });
  });

  test('calls entities with the metadata of its cause, sets timers, finds rows and has the time of the event', async () => {
    const guest = await guestOf(`
      @on("thing") onThing(event: Event): Verdict {
        new OtherClient("a").note("hello");
        Timers.set("later", Due.after(5), OtherCall.note("a", "late"));
        Timers.cancel("later", new OtherClient("a"));
        const found = new RowsClient().all(new AllRows());
        return this.skip(found.value.rows[0].text + " " + Date.now().toString() + " " + (Math.random() < 1).toString());
      }`);
    const made: unknown[] = [];
    const calls: HostCalls = {
      ...answering({ kind: 'reply', json: 'null' }, made),
      setTimer: async (timer) => void made.push(timer.name),
      cancelTimer: async (target, name) => void made.push([target, name]),
      find: () => ({ rows: ['{"text":"row"}'], cursor: undefined, asOfMs: undefined }),
    };
    expect(await guest.consumers!.handle(context, 'ledger', added, calls)).toEqual({
      kind: 'skip',
      reason: `row ${context.nowMs} true`,
    });
    expect(made).toEqual([
      [{ component: 'other', id: 'a' }, 'note', '"hello"', context.metadata, undefined],
      'later',
      [{ component: 'other', id: 'a' }, 'later'],
    ]);
  });

  test('faults at an event that this module does not store', async () => {
    const guest = await guestOf(
      '@on("thing") onThing(event: Event): Verdict { return this.done(); }',
    );
    const foreign = { ...added, event: { manifest: 'other', json: '{"type":"added"}' } };
    const fault: unknown = await Promise.resolve(
      guest.consumers!.handle(context, 'ledger', foreign, done),
    ).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(GuestFault);
    expect(fault).toMatchObject({
      guestMessage: expect.stringContaining(
        "event 7 of entity 'ö1' of component 'thing': its manifest is 'other', this module stores 'Event'",
      ),
    });
    expect(await guest.consumers!.handle(context, 'ledger', added, done)).toEqual({ kind: 'done' });
  });
});
