// The fold of views in AssemblyScript that share objects, or change a row that they keep: whatever the batches, the same
// rows come out.
import { afterAll, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import type { GuestViews } from '../../model/guest.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import type { EntityEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { QUERY, UserProjects, entity } from './support/user-projects.ts';

const projects = await UserProjects.open();
afterAll(() => projects.remove());

/** Folds the events of two entities in batches of a size, and returns the rows. */
async function rowsOf(views: GuestViews, events: readonly EntityEvent[], size: number) {
  const rows = new Map<string, string | undefined>();
  for (let at = 0; at < events.length; at += size) {
    const batch = events.slice(at, at + size);
    const keys = [...new Set(batch.map(({ entity: { id } }) => id))];
    const changed = await views.fold(
      'things',
      keys.map((key) => ({ key, json: rows.get(key) })),
      batch.map((event) => ({ event, rows: [keys.indexOf(event.entity.id)] })),
    );
    if (typeof changed === 'string') throw new Error(changed);
    for (const { key, json } of changed) rows.set(key, json);
  }
  return Object.fromEntries(rows);
}

test('rows share no objects, and a row that is changed and kept is changed', async () => {
  const entryFile = await projects.write({
    'index.ts': `import { EventContext, RowChange, View } from "@svc/guest-sdk";
@data class Row { tags: string[] = []; }
const shared: string[] = [];
@view("things") class Things extends View<Row> {
  @from("thing") on(row: Row | null, event: Event, context: EventContext): RowChange<Row> {
    if (row === null) { const first = new Row(); first.tags = shared; return this.put(first); }
    row.tags.push(context.key + context.seq.toString());
    return this.keep();
  }
}
${entity(QUERY)}
register<Things>();`,
  });
  const { component } = await buildComponent({ entryFile, optimizeLevel: 0 });
  const guest = await createWasmGuest(component);
  try {
    const events = ['a', 'b', 'a', 'b', 'a', 'a'].map((id, index): EntityEvent => ({
      entity: { component: 'thing', id },
      seq: index + 1,
      timeMs: 1,
      event: { manifest: 'Event', json: '{"type":"added"}' },
    }));
    const expected = { a: '{"tags":["a3","a5","a6"]}', b: '{"tags":["b4"]}' };
    for (const size of [1, 2, 3, 6])
      expect(await rowsOf(guest.views!, events, size)).toEqual(expected);
  } finally {
    await guest.close();
  }
});

test.each([
  ['draws a number', 'Math.random()', /there are no random numbers in .* the methods of a view/],
  ['draws a single number', 'Mathf.random()', /there are no random numbers/],
  ['reads the clock', 'Date.now()', /The module called clock\.now-ms where it may not be called/],
  [
    'reads the time',
    'process.time()',
    /The module called clock\.now-ms where it may not be called/,
  ],
])('a view that %s is a fault, in @keys and in @from', async (_what, chance, said) => {
  const entryFile = await projects.write({
    'index.ts': `import { EventContext, RowChange, View } from "@svc/guest-sdk";
@data class Row { n: f64 = 0; }
@view("folds") class Folds extends View<Row> {
  @from("thing") on(row: Row | null, event: Event, context: EventContext): RowChange<Row> {
    return this.put({ n: <f64>${chance} });
  }
}
@view("keys") class Keys extends View<Row> {
  @keys("thing") keysOf(event: Event): string[] { return [(<f64>${chance}).toString()]; }
  @from("thing") on(row: Row | null, event: Event, context: EventContext): RowChange<Row> { return this.keep(); }
}
@view("seeded") class Seeded extends View<Row> {
  @from("thing") on(row: Row | null, event: Event, context: EventContext): RowChange<Row> {
    if (context.seq == 1) Math.seedRandom(1);
    return this.put({ n: Math.random() });
  }
}
${entity(QUERY)}
register<Folds>(); register<Keys>(); register<Seeded>();`,
  });
  const { component } = await buildComponent({ entryFile, optimizeLevel: 0 });
  const guest = await createWasmGuest(component);
  try {
    const events = [1, 2].map((seq): EntityEvent => ({
      entity: { component: 'thing', id: 'a' },
      seq,
      timeMs: 1,
      event: { manifest: 'Event', json: '{"type":"added"}' },
    }));
    const fold = async (view: string, count: number) =>
      guest.views!.fold(
        view,
        [{ key: 'a', json: undefined }],
        events.slice(0, count).map((event) => ({ event, rows: [0] })),
      );
    expect(await faultOf(async () => fold('folds', 1))).toMatch(said);
    expect(await faultOf(async () => guest.views!.keys('keys', events))).toMatch(said);
    // A seed that is in the events is no chance; that of another event does not count.
    expect(await fold('seeded', 1)).toHaveLength(1);
    expect(await faultOf(async () => fold('seeded', 2))).toMatch(/there are no random numbers/);
  } finally {
    await guest.close();
  }
});

/** Returns what a fault says, with the module's own words. */
async function faultOf(call: () => Promise<unknown>): Promise<string> {
  const fault = await call().catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(GuestFault);
  const { message, guestMessage = '' } = fault as GuestFault;
  return `${message} ${guestMessage}`;
}
