// The fold of views in AssemblyScript that share objects, or change a row that they keep: whatever the batches, the same
// rows come out.
import { afterAll, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import type { GuestViews } from '../../host/engine/needs/guest.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import type { EntityEvent } from '../../host/model/entity.ts';
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
