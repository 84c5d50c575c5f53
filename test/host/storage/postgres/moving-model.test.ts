// Nodes that write one journal while its slices move between them and connections are lost: what was answered is stored once and in
// order, and what has failed is not stored. SVC_TEST_JOURNALS sets how many seeds are tried, and SVC_TEST_SEED the first one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JournalDatabase } from '../../../support/postgres/journal-database.ts';
import { type MovingCounts, MovingModel } from '../../../support/postgres/moving-model.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { TcpFaultProxy } from '../../../support/tcp-fault-proxy.ts';

const { SVC_TEST_JOURNALS: count = '6', SVC_TEST_SEED: first = '1' } = process.env;

let journals: JournalDatabase;
let proxies: readonly TcpFaultProxy[];
beforeAll(async () => {
  const server = await PostgresServer.shared('18');
  journals = await JournalDatabase.make(server);
  proxies = await Promise.all([1, 2, 3].map(() => TcpFaultProxy.to(server.port)));
});
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await journals.database.end();
});

test(
  'every answer is kept, whichever node owns a slice, and whatever is lost while it moves',
  async () => {
    const total: MovingCounts = {
      stored: 0,
      notStored: 0,
      unknown: 0,
      moved: 0,
      moves: 0,
      reads: 0,
    };
    for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
      await journals.empty();
      const model = new MovingModel(journals, proxies, seed);
      await model.run();
      expect(model.problems, `SVC_TEST_JOURNALS=1 SVC_TEST_SEED=${seed}`).toEqual([]);
      for (const name of Object.keys(total) as (keyof MovingCounts)[])
        total[name] += model.counts[name];
    }
    console.log(JSON.stringify(total));
    expect(Math.min(total.stored, total.notStored, total.moved, total.reads)).toBeGreaterThan(0);
  },
  120_000 + Number(count) * 10_000,
);
