// The model of the database answers as PostgreSQL does, whatever the order of the statements of several nodes. SVC_TEST_HISTORIES sets how
// many histories are played, and SVC_TEST_SEED the first one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JournalDatabase } from '../../support/postgres/journal-database.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { compared } from './compared-histories.ts';

const { SVC_TEST_HISTORIES: count = '16', SVC_TEST_SEED: first = '1' } = process.env;

let journals: JournalDatabase;
beforeAll(async () => {
  journals = await JournalDatabase.make(await PostgresServer.shared('18'));
});
afterAll(() => journals.database.end());

test('the model answers as the database does', async () => {
  const steps: string[] = [];
  for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
    const history = await compared(journals, seed);
    expect(history.difference, `SVC_TEST_SEED=${seed}`).toBeUndefined();
    steps.push(...history.steps);
  }
  // Statements have waited for others, and groups were stored.
  for (const seen of [/blocked/, /append.*: .*\[\d+,null\]/])
    expect(steps.filter((step) => seen.test(step)).length).toBeGreaterThan(0);
});
