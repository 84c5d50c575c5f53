// The stack that a handler shares with the host while the host reads rows of a view: real rows in a file, and handlers that recurse
// to every depth around the deepest at which they can still ask.
import { expect, test } from 'vitest';
import type { HostCalls } from '../../../../../model/guest.ts';
import type { ViewStore } from '../../../../../host/engine/needs/views.ts';
import { createWasmGuest } from '../../../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import { VIEW_LIMITS_DEFAULT } from '../../../../../model/view-limits.ts';
import { MemoryJournal } from '../../../../../host/storage/memory/memory-journal.ts';
import { FileViews } from '../../../../../host/storage/views/file-views.ts';
import { SharedView } from '../../../../../host/views/shared-view.ts';
import { declaredViews } from '../../../../../host/views/view-definitions.ts';
import { ViewFinder } from '../../../../../host/views/view-finder.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { DESCRIPTOR } from '../../../views/support/orders-view.ts';
import { component, guestWat, testDescriptor, withDescriptor } from '../support/guest-module.ts';
import { CONTEXT, hostCalls, request } from '../support/live-guest.ts';
import { StaticMemory } from '../support/static-memory.ts';

/** One that had to wait skips the fast path for a while, so each such request is the last of its route. */
const ROUTES = 500;
const ROWS = 5;

/** A finder over rows in a file. */
async function finderOf(): Promise<ViewFinder> {
  const store: ViewStore = new FileViews(temporaryFolder(), VIEW_LIMITS_DEFAULT);
  const views = declaredViews(DESCRIPTOR, 'fingerprint');
  const writer = await store.openWriter(views[0]!.folded.stored);
  const changes = Array.from({ length: ROWS }, (_, at) => ({
    key: `o${at}`,
    json: JSON.stringify({ customer: 'ada', total: at }),
  }));
  await writer.put(changes, { position: '1', mark: undefined });
  while (!(await writer.prepareIndexes(100)));
  await writer.goLive();
  const shared = new SharedView();
  shared.foldedTo('1');
  shared.become('live');
  return new ViewFinder({
    descriptor: DESCRIPTOR,
    views,
    shared: { orders: shared.memory },
    store,
    positions: new MemoryJournal().positions,
    waitMs: 0,
  });
}

/** A module whose handlers call themselves as often as the request's query has characters, and then ask for rows. */
async function deepGuest() {
  const memory = new StaticMemory();
  const texts = memory.record(24, [
    [0, 'orders'],
    [8, 'all'],
    [16, '{}'],
  ]);
  const word = (at: number) => `(i32.load (i32.const ${texts + at * 4}))`;
  const fields = `${memory.data}
    (func $deep (param $left i32)
      (if (local.get $left) (then
        (call $deep (i32.sub (local.get $left) (i32.const 1))) (return)))
      (call $find ${[0, 1, 2, 3, 4, 5].map(word).join(' ')} (i32.const 50)
        (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 256)))`;
  const handle = `(call $deep (local.get $query-length)) (drop (call $clear))
    (i32.store16 (i32.const 20) (i32.add (i32.const 200) (i32.load (i32.const 268)))) (i32.const 16)`;
  const bytes = await component(guestWat({ version: '0.2.0', fields, handle }));
  const descriptor = testDescriptor('0.2.0');
  const [endpoint] = descriptor.endpoints;
  const routes = Array.from({ length: ROUTES }, (_, index) => ({
    ...endpoint!.routes[0]!,
    path: `/${index}`,
  }));
  const module = withDescriptor(bytes, { ...descriptor, endpoints: [{ ...endpoint!, routes }] });
  return createWasmGuest(module, { ...WASM_LIMITS_DEFAULT, liftedBytesMax: 64 * 1024 * 1024 });
}

test('is never so short that reading rows breaks off in the middle', async () => {
  const { endpoints } = await deepGuest();
  const finder = await finderOf();
  let route = 0;
  const ends = new Set<string>();
  const calls: HostCalls = hostCalls({
    speculate: () => undefined,
    findAtOnce: (view, query, input, limit, cursor) => {
      let found = 'nothing';
      try {
        const page = finder.findAtOnce({ view, query, input, limit, cursor }, undefined);
        if (page !== undefined) found = 'rows' in page ? `${page.rows.length} rows` : page.message;
        return page;
      } finally {
        ends.add(found);
      }
    },
    // The stack of a handler that can wait is shorter still.
    find: () => expect.fail('the handler has a stack of its own'),
  });
  /** Whether the handler could ask on this stack. */
  const dive = async (depth: number) => {
    const asked = request(route, { query: 'q'.repeat(depth) });
    const answer = (async () => endpoints.handle(CONTEXT, asked, calls))();
    const status = await answer.then(
      (given) => given.kind === 'response' && given.status,
      ({ limit }: { readonly limit?: string }) => limit,
    );
    ends.add(`${status}`);
    if (status !== 200 + ROWS) route++;
    return status === 200 + ROWS;
  };
  let depth = 4_000;
  while (await dive(depth)) depth += 100;
  // The code of the module may be recompiled meanwhile, which changes the size of its frames.
  while (!(await dive(depth))) depth -= 10;
  while (await dive(depth)) depth++;
  let served = 0;
  for (const bottom = depth - 100; depth > bottom; depth--) if (await dive(depth)) served++;
  expect(served).toBeGreaterThan(50);
  expect([...ends].toSorted()).toEqual([`${200 + ROWS}`, `${ROWS} rows`, 'stack']);
  finder.close();
});
