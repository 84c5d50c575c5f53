// Nodes that take the slices of a journal from each other while connections are lost: what was answered is stored once and in order,
// and what has failed is not stored. SVC_TEST_JOURNALS sets how many seeds are tried, and SVC_TEST_SEED the first one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JournalDatabase } from '../../../support/postgres/journal-database.ts';
import { JournalModel, type ModelCounts } from '../../../support/postgres/journal-model.ts';
import { PostgresServer } from '../../../support/postgres/postgres-server.ts';
import { TcpFaultProxy } from '../../../support/tcp-fault-proxy.ts';

const { SVC_TEST_JOURNALS: count = '20', SVC_TEST_SEED: first = '1' } = process.env;

let journals: JournalDatabase;
let proxy: TcpFaultProxy;
beforeAll(async () => {
  const server = await PostgresServer.shared('18');
  journals = await JournalDatabase.make(server);
  proxy = await TcpFaultProxy.to(server.port);
});
afterAll(async () => {
  await proxy.close();
  await journals.database.end();
});

test(
  'every answer of the journal is kept, whoever owns it and whatever is lost',
  async () => {
    const total: ModelCounts = { stored: 0, notStored: 0, unknown: 0, takeovers: 0 };
    for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
      await journals.empty();
      const model = new JournalModel(journals, proxy, seed);
      await model.run();
      expect(model.problems, `SVC_TEST_JOURNALS=1 SVC_TEST_SEED=${seed}`).toEqual([]);
      for (const name of Object.keys(total) as (keyof ModelCounts)[])
        total[name] += model.counts[name];
    }
    console.log(JSON.stringify(total));
    expect(Math.min(total.stored, total.notStored, total.takeovers)).toBeGreaterThan(0);
  },
  120_000 + Number(count) * 10_000,
);
