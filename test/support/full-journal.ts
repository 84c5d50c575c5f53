// A journal in a folder that has something of everything: records, deletions, replies, modules, timers, consumers and lanes.
import type { JournalFolder } from '../../host/storage/journal-location.ts';
import { journalIn } from '../../host/storage/journal-location.ts';
import { openSqliteJournal } from '../../host/storage/sqlite/sqlite-journal.ts';
import { fill } from './damaged-journal.ts';
import { change, timerAt } from './timer-writes.ts';
import { withJournal } from './with-journal.ts';

const cart = { component: 'cart', id: 'e0' };
const wallet = { component: 'wallet', id: 'e1' };
const settled = { attempts: 3, round: 1, nextMs: undefined, reason: 'it – "failed"' };

/** `records`: how many there are; the first of three modules has stored those of the first half. */
export async function fullJournal(
  dir: string,
  records: number,
  entities: number,
): Promise<JournalFolder> {
  await noteModule(dir, 'a');
  const half = Math.floor(records / 2);
  await withJournal(dir, (journal) => fill(journal, half, entities));
  await noteModule(dir, 'b');
  await withJournal(dir, (journal) => fill(journal, records, entities, half));
  await noteModule(dir, 'c');
  await withJournal(dir, async (journal) => {
    const input = '{"odd":",\\"event\\":"}';
    await change(journal, cart, timerAt('a', 1_000, { input, traceParent: 't' }));
    await change(journal, wallet, timerAt('b', 3, { due: { kind: 'every', everyMs: 5 } }));
    await change(journal, cart, timerAt('c', 9_000));
  });
  const opened = await openSqliteJournal(dir);
  const schedule = { kind: 'cron', expression: '0 3 * * *', zone: '' } as const;
  await opened.reconcileSchedules(
    [{ id: 'nightly', target: cart, command: 'make', input: '{}', schedule }],
    0,
  );
  const lanes = [wallet, cart].map((entity) => ({ entity, seq: 1, ...settled }));
  await opened.settleConsumer(
    { id: 'ledger', start: 'beginning' },
    { position: String(Math.floor(records / 3)), lanes, rejoined: [] },
  );
  await opened.settleConsumer(
    { id: 'mirror', start: 'now' },
    { position: String(records), lanes: [], rejoined: [] },
  );
  await opened.settleConsumer(
    { id: 'new', start: 'beginning' },
    { position: '0', lanes: [], rejoined: [] },
  );
  await opened.close();
  return journalIn(dir);
}

async function noteModule(dir: string, name: string): Promise<void> {
  const opened = await openSqliteJournal(dir);
  opened.noteModule({
    fingerprint: name.repeat(64),
    descriptor: `{"name":"${name}"}`,
    timeMs: 1_700_000_000_000,
  });
  await opened.close();
}
