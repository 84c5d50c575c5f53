// An embedded service with the journal of a test, whose writes fail, and which crashes.
import { describe, expect, onTestFinished, test } from 'vitest';
import { createService, defineConsumer, type SvcError } from '../../../host/embed.ts';
import {
  SeededRandom,
  TestJournal,
  VirtualClock,
  type WriteOutcome,
} from '../../../host/testing.ts';
import {
  begin,
  reminder,
  type Reminders,
  reminders,
  remindersComponents,
  remindersView,
  tally,
} from '../../support/reminders.ts';
import { Random } from '../../support/random.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2030, 0, 1);
const IDS = ['r0', 'r1', 'r2'];

const timesOf = async ({ service }: Reminders, id: string) => {
  const found = await service.call(reminder, id).get();
  return found.isOk ? found.value.times : undefined;
};
const countOf = async ({ service }: Reminders) => {
  const found = await service.call(tally, 'all').get();
  return found.isOk ? found.value : undefined;
};

/** Serves reminders with a journal whose writes have the outcomes that `next` has at the time, and are stored without one. */
async function served() {
  const outcomes: WriteOutcome[] = [];
  const journal = new TestJournal({ onWrite: () => outcomes.shift() ?? 'stored' });
  const clock = new VirtualClock(START_MS);
  const it = await reminders({ clock, journal, random: new SeededRandom(1n) });
  onTestFinished(() => it.service.stop(0));
  return { it, journal, clock, outcomes };
}

test('a program has its time and its journal from the test', async () => {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1));
  const journal = new TestJournal();
  const testing = { clock, random: new SeededRandom(7n), journal };
  const options = { name: 'reminders', journal: 'memory', log: 'none', testing } as const;
  const service = await createService({ ...options, ...remindersComponents() });
  await service.call(reminder, 'tea').begin(60_000);
  await clock.advance(60_000);
  expect(await service.call(reminder, 'tea').get()).toMatchObject({ value: { times: 1 } });
  journal.crash();
  await service.stop(0);
  const next = await createService({ ...options, ...remindersComponents() });
  expect(await next.call(reminder, 'tea').get()).toMatchObject({ value: { times: 1 } });
  await next.stop(0);
});

describe.each([
  ['failed', 'SVC_JOURNAL_UNAVAILABLE', 503],
  ['disk-full', 'SVC_DISK_FULL', 503],
] as const)('a write that is %s', (outcome, code, status) => {
  test('is an error for its caller, and nothing of it is stored', async () => {
    const { it, journal, clock, outcomes } = await served();
    await begin(it, 'first', MINUTE_MS);
    await clock.advance(1_000);
    const before = journal.contents();
    outcomes.push(outcome);
    await expect(it.service.call(reminder, 'tea').begin(MINUTE_MS)).rejects.toMatchObject({ code });
    await clock.advance(1_000);
    expect(journal.contents()).toBe(before);
    expect(await it.service.readEvents(reminder, 'tea')).toEqual([]);
    const rows = await it.service.view(remindersView).all();
    expect(rows).toMatchObject({ value: { rows: [{ times: 0 }] } });
    // The disk is as before, and so is the service.
    expect(await begin(it, 'tea', MINUTE_MS)).toBe(204);
    await clock.advance(MINUTE_MS);
    expect([await timesOf(it, 'tea'), await countOf(it)]).toEqual([1, 4]);
  });

  test(`is ${status} for a request`, async () => {
    const { it, outcomes } = await served();
    outcomes.push(outcome);
    expect(await begin(it, 'tea', MINUTE_MS)).toBe(status);
  });
});

/**
 * Runs reminders until a write crashes, or three minutes have passed, and then lets another service go on. Returns what is stored,
 * and the number of writes until then.
 */
async function crashedRun(at: number, kept: number) {
  const journal = new TestJournal({
    onWrite: ({ number }) => (number === at ? { crash: kept } : 'stored'),
  });
  const clock = new VirtualClock(START_MS);
  const random = new SeededRandom(7n);
  const serve = () => reminders({ clock, random, journal });
  /** Reminders that somebody knows of, and how often they have reminded, as far as anybody knows. */
  const known = new Map<string, number>();
  const beginOthers = (it: Reminders) =>
    Promise.all(
      IDS.filter((id) => !known.has(id)).map(async (id) => {
        if ((await begin(it, id, MINUTE_MS)) === 204) known.set(id, 0);
      }),
    );
  // A crash while the service starts is an error of createService.
  const first = await serve().catch((error: SvcError) => {
    if (error.code !== 'SVC_JOURNAL_UNAVAILABLE') throw error;
  });
  if (first !== undefined) {
    await beginOthers(first);
    for (let minute = 0; minute < 3; minute++) {
      await clock.advance(MINUTE_MS);
      for (const id of known.keys())
        known.set(id, (await timesOf(first, id).catch(() => undefined)) ?? known.get(id)!);
    }
    await first.service.stop(0);
  }
  const { writes } = journal;
  const it = await serve();
  for (const [id, times] of known) expect(await timesOf(it, id)).toBeGreaterThanOrEqual(times);
  await beginOthers(it);
  await clock.advance(2 * MINUTE_MS);
  for (const id of IDS) await it.service.call(reminder, id).end();
  // The consumer may get the last event again after a minute.
  await clock.advance(2 * MINUTE_MS);
  const { service } = it;
  const events = await Promise.all(IDS.map((id) => service.readEvents(reminder, id)));
  for (const own of events)
    expect(own.map(({ seq }) => seq)).toEqual(own.map((_, index) => index + 1));
  // Each event was counted once, although services have failed in between.
  expect(await countOf(it)).toBe(events.reduce((sum, own) => sum + own.length, 0));
  const page = await service.view(remindersView).all();
  expect(page.isOk && page.value.rows.map(({ times }) => times)).toEqual(
    events.map((own) => own.filter(({ event }) => event.type === 'reminded').length),
  );
  await service.stop(0);
  return { contents: journal.contents(), writes };
}

describe('a service whose journal crashes', () => {
  test('at any of its writes has what it has confirmed, and handles each event once', async () => {
    const { writes } = await crashedRun(Infinity, 0);
    expect(writes).toBeGreaterThan(20);
    const chance = new Random(1);
    for (let at = 1; at <= writes; at++) await crashedRun(at, chance.below(4));
  }, 20_000);

  test('stores the same for the same seed, crash included', async () => {
    const { contents } = await crashedRun(9, 1);
    expect(contents).toContain('reminded');
    expect((await crashedRun(9, 1)).contents).toBe(contents);
    expect((await crashedRun(10, 1)).contents).not.toBe(contents);
  });

  test('learns of it, and reads and stores nothing more', async () => {
    const { it, journal } = await served();
    await begin(it, 'tea', MINUTE_MS);
    const before = journal.contents();
    journal.crash();
    journal.crash();
    expect((await it.service.failure).code).toBe('SVC_JOURNAL_UNAVAILABLE');
    await expect(it.service.call(reminder, 'cake').get()).rejects.toMatchObject({
      code: 'SVC_JOURNAL_UNAVAILABLE',
    });
    expect(await begin(it, 'cake', MINUTE_MS)).toBe(503);
    // It need not be read, because it is in memory.
    expect(await begin(it, 'tea', MINUTE_MS)).toBe(503);
    expect(journal.contents()).toBe(before);
  });

  test('keeps as many of the queued writes as the test says, and answers nobody', async () => {
    const { it, journal, outcomes } = await served();
    const begun = IDS.map((id) => it.service.call(reminder, id).begin(MINUTE_MS));
    outcomes.push({ crash: 2 });
    const ends = await Promise.allSettled(begun);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await it.service.stop(0);
    const again = await reminders({ clock: new VirtualClock(START_MS), journal });
    onTestFinished(() => again.service.stop(0));
    const stored = await Promise.all(IDS.map((id) => again.service.readEvents(reminder, id)));
    expect(stored.map(({ length }) => length)).toEqual([1, 1, 0]);
  });

  test('has no part in what the next service does, even before it has stopped', async () => {
    const handled: string[] = [];
    const seeing = (name: string) =>
      defineConsumer({
        id: 'seeing',
        start: 'beginning',
        on: [
          {
            entity: tally,
            handle(_event, { done }) {
              handled.push(name);
              return done();
            },
          },
        ],
      });
    const journal = new TestJournal();
    const clock = new VirtualClock(START_MS);
    const serve = async (name: string) => {
      const options = { journal: 'memory' as const, consumers: [seeing(name)] };
      const it = await reminders({ clock, journal }, options);
      onTestFinished(() => it.service.stop(0));
      return it;
    };
    await serve('old');
    await clock.advance(1_000);
    journal.crash();
    const { service } = await serve('new');
    await service.call(tally, 'all').count();
    await clock.advance(MINUTE_MS);
    expect(handled).toEqual(['new']);
  });
});

test('a journal of a test is open in one service at a time', async () => {
  const { it, journal } = await served();
  await expect(reminders({ journal })).rejects.toMatchObject({ code: 'SVC_DATA_IN_USE' });
  await begin(it, 'tea', MINUTE_MS);
  await it.service.stop();
  const again = await reminders({ journal });
  onTestFinished(() => again.service.stop(0));
  expect(await timesOf(again, 'tea')).toBe(0);
});

test('a journal of a test is in no folder', async () => {
  const serving = reminders({ journal: new TestJournal() }, { dataFolder: temporaryFolder() });
  await expect(serving).rejects.toMatchObject({
    code: 'SVC_SETTING_INVALID',
    message: expect.stringContaining('testing.journal is a journal in memory'),
  });
});
