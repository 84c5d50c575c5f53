// The answers to idempotency keys as SQLite keeps them: beyond a restart, under a checksum, and not for ever.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { eventKey } from '../../../../model/event-key.ts';
import { answerTo, append, keep, recordOf } from '../../../suites/journal-suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { withJournal } from '../../../support/with-journal.ts';

const cart = { component: 'shopping-cart', id: 'c1' };

function edited(dir: string, sql: string): unknown {
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  try {
    return database.prepare(sql).get();
  } finally {
    database.close();
  }
}

test('an answer is found after the journal was closed and opened', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    expect(
      await keep(journal, cart, [{ ...recordOf(1), key: 'k' }], answerTo('k', 5)),
    ).toBeUndefined();
  });
  await withJournal(dir, async (journal) => {
    expect(await journal.answer(cart, 'k')).toMatchObject({ key: 'k', timeMs: 5 });
    expect(await journal.read(cart, 0, 9)).toMatchObject([{ seq: 1, key: 'k' }]);
  });
});

test.each([
  'outcome = \'{"kind":"reply","json":"2"}\'',
  "digest = 'another'",
  'time_ms = time_ms + 1',
  "key = 'other'",
])('an answer that was changed on disk is damage, and is not given: %s', async (change) => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    await keep(journal, cart, [], answerTo('k', 5));
  });
  edited(dir, `UPDATE answer SET ${change}`);
  await withJournal(dir, async (journal) => {
    const answer = async () => journal.answer(cart, change.startsWith('key') ? 'other' : 'k');
    await expect(answer()).rejects.toMatchObject({ code: 'SVC_JOURNAL_CORRUPT' });
  });
});

test('a clock that was far ahead keeps no answer behind its own for ever', async () => {
  const dir = temporaryFolder();
  const far = 1_000_000;
  await withJournal(dir, async (journal) => {
    const keepAt = (key: string, time: number) =>
      keep(journal, cart, [], { ...answerTo(key, time), retentionMs: 11 });
    for (let at = 0; at < 20; at++) await keepAt(`ahead${at}`, far);
    for (let time = 1; time <= 200; time++) await keepAt(`k${time}`, time);
    expect(await journal.answer(cart, 'ahead7')).toMatchObject({ timeMs: far });
    for (const time of [1, 2, 3]) expect(await journal.answer(cart, `k${time}`)).toBeUndefined();
    // When that time has come they are forgotten like any other.
    for (let at = 0; at < 40; at++) await keepAt(`late${at}`, far + 1000 + at);
    expect(await journal.answer(cart, 'ahead7')).toBeUndefined();
  });
  const count = edited(dir, 'SELECT count(*) AS n, min(time_ms) AS first FROM answer');
  expect(count).toEqual({ n: 11, first: far + 1029 });
});

test.each(['parked', 'after the position'])(
  'answers that a consumer still needs for an event that is %s stop no others from being forgotten, and go when they are not needed',
  async (where) => {
    const dir = temporaryFolder();
    const ledger = { id: 'ledger', start: 'beginning' } as const;
    const parked = { entity: cart, seq: 1, attempts: 1, round: 1, nextMs: undefined, reason: 'no' };
    const hour = 3_600_000;
    await withJournal(dir, async (journal, opened) => {
      await append(journal, cart, recordOf(1));
      const position = journal.positions.end();
      const { start } = journal.positions;
      const waiting =
        where === 'parked' ? { position, lanes: [parked] } : { position: start, lanes: [] };
      await opened.settleConsumer(ledger, { ...waiting, rejoined: [] });
      const keepAt = (key: string, time: number) =>
        keep(journal, cart, [], { ...answerTo(key, time), retentionMs: 11 });
      const needed = (n: number) =>
        `${eventKey({ consumer: 'ledger', entity: cart, seq: 1 })}.book.${n}`;
      for (let n = 0; n < 50; n++) await keepAt(needed(n), 1);
      for (let time = 1; time <= 200; time++) await keepAt(`k${time}`, time);
      expect(await journal.answer(cart, 'k150')).toBeUndefined();
      for (let n = 0; n < 50; n++) expect(await journal.answer(cart, needed(n))).toBeDefined();

      await opened.settleConsumer(ledger, { position, lanes: [], rejoined: [cart] });
      for (let time = 201; time <= 300; time++) await keepAt(`k${time}`, 2 * hour + time);
      for (let n = 0; n < 50; n++) expect(await journal.answer(cart, needed(n))).toBeUndefined();
    });
  },
);

test('answers are forgotten behind more needed ones than are looked at in an hour', async () => {
  const dir = temporaryFolder();
  const parked = { entity: cart, seq: 1, attempts: 1, round: 1, nextMs: undefined, reason: 'no' };
  const minute = 60_000;
  await withJournal(dir, async (journal, opened) => {
    await append(journal, cart, recordOf(1));
    const position = journal.positions.end();
    const ledger = { id: 'ledger', start: 'beginning' } as const;
    await opened.settleConsumer(ledger, { position, lanes: [parked], rejoined: [] });
    const keepAt = (key: string, time: number) =>
      keep(journal, cart, [], { ...answerTo(key, time), retentionMs: 11 });
    const call = `${eventKey({ consumer: 'ledger', entity: cart, seq: 1 })}.book`;
    const kept = [];
    for (let n = 0; n < 600; n++) kept.push(keepAt(`${call}.${n}`, 1));
    await Promise.all(kept);
    for (let n = 1; n <= 300; n++) await keepAt(`k${n}`, n * minute);
  });
  const count = edited(dir, "SELECT count(*) AS n FROM answer WHERE key LIKE 'k%'");
  expect(count).toMatchObject({ n: 1 });
});

test('an old answer whose time is damaged fails no other', async () => {
  const dir = temporaryFolder();
  const kept = (key: string) =>
    withJournal(dir, (journal) => keep(journal, cart, [], answerTo(key, 5)));
  expect(await kept('k')).toBeUndefined();
  edited(dir, 'UPDATE answer SET time_ms = 9223372036854775807');
  expect(await kept('other')).toBeUndefined();
});

test('answers past their time do not pile up', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    for (let time = 1; time <= 200; time++)
      await keep(journal, cart, [], { ...answerTo(`k${time}`, time), retentionMs: 11 });
  });
  const count = edited(dir, 'SELECT count(*) AS n, min(time_ms) AS first FROM answer');
  expect(count).toEqual({ n: 11, first: 190 });
});

test('answers past their time are forgotten after the last command with a key as well', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    for (let time = 1; time <= 20; time++)
      await keep(journal, cart, [], { ...answerTo(`k${time}`, time), retentionMs: 11 });
    for (let seq = 1; seq <= 5; seq++)
      expect(await append(journal, cart, { ...recordOf(seq), timeMs: 26 })).toBeUndefined();
  });
  const count = edited(dir, 'SELECT count(*) AS n, min(time_ms) AS first FROM answer');
  expect(count).toEqual({ n: 5, first: 16 });
});
