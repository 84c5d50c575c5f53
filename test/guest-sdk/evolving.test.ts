// docs/how-to/evolving-events.md: two versions of a module, where one reads the journal of the other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testEntity, testModule } from '@svc/guest-sdk/testing';
import { type Guest, MemoryJournal, SvcError, createEngine, systemDigest } from '@svc/host/tools';
import { describe, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { systemEventLoop } from '../../host/system.ts';

const fixture = join(import.meta.dirname, '../../fixtures/evolving-after');
const first = await testModule(await compileFixture('evolving-before'));
const module = await testModule(await compileFixture('evolving-after'));

const PARCEL = { component: 'parcel', id: 'p1' };

/** Starts a runtime on this journal; returns a function that sends to the only parcel, and returns the reply. */
function running(version: typeof module, journal: MemoryJournal) {
  const guest: Guest = version.start();
  onTestFinished(() => guest.close());
  const engine = createEngine({
    guest,
    journal,
    clock: { nowMs: () => 1, monotonicMs: () => 1 },
    random: { next64: () => 1n },
    digest: systemDigest,
    eventLoop: systemEventLoop,
    faultLog: () => undefined,
  });
  return async (name: string, input: unknown = null): Promise<unknown> => {
    const outcome = await engine.call(PARCEL, name, JSON.stringify(input), []);
    if (outcome.kind !== 'reply') throw new Error(outcome.message);
    return JSON.parse(outcome.json);
  };
}

async function storedIn(journal: MemoryJournal): Promise<string[]> {
  const records = await journal.read(PARCEL, 0, 100);
  return records.map((record) =>
    record.kind === 'event' ? `${record.event.manifest}  ${record.event.json}` : record.kind,
  );
}

async function journalOfTheFirst(): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  const send = running(first, journal);
  await send('send', { to: 'Ada', grams: 250, speed: 'Fast', clerk: 'Bob' });
  await send('move', 'Lyon, FR');
  return journal;
}

test('every event that was ever stored is read, and means what it meant', () => {
  const stored = readFileSync(`${fixture}/stored.jsonl`, 'utf8').trimEnd().split('\n');
  testEntity(module, 'parcel', 'p1')
    .given(stored)
    .query('get')
    .thenReply({
      to: 'Ada',
      grams: 250,
      speed: 'Express',
      insured: false,
      sender: null,
      hubs: [
        { city: 'Lyon', country: 'FR' },
        { city: 'Turin', country: 'IT' },
      ],
      delivered: true,
    });
});

test('what is written now is the last word on each case', () => {
  testEntity(module, 'parcel', 'p1')
    .when('send', { to: 'Ada', grams: 250, speed: 'Express', insured: true, sender: 'Cyd' })
    .thenEvents([
      {
        type: 'sent',
        recipient: 'Ada',
        grams: 250,
        speed: 'Express',
        insured: true,
        sender: 'Cyd',
      },
    ])
    .when('arrive', { city: 'Turin', country: 'IT' })
    .thenEvents([{ type: 'arrived', hub: { city: 'Turin', country: 'IT' } }]);
});

describe('a journal of the first version', () => {
  test('is gone on with by the second, and nothing stored changes', async () => {
    const journal = await journalOfTheFirst();
    const page = readFileSync(
      join(import.meta.dirname, '../../docs/how-to/evolving-events.md'),
      'utf8',
    );
    const before = await storedIn(journal);
    expect(page).toContain(`\`\`\`\n${before[0]}\n\`\`\`\n`);

    const send = running(module, journal);
    await send('arrive', { city: 'Turin', country: 'IT' });
    await send('deliver');
    expect(await send('get')).toMatchObject({
      grams: 250,
      speed: 'Express',
      hubs: [{ city: 'Lyon' }, { city: 'Turin' }],
    });
    const after = await storedIn(journal);
    expect(after.slice(0, 2)).toEqual(before);
    const golden = readFileSync(`${fixture}/stored.jsonl`, 'utf8').trimEnd().split('\n');
    expect(after).toEqual(golden.map((json) => `ParcelEvent  ${json}`));
  });

  test('is no longer read by it once there is an event that it does not know', async () => {
    const journal = await journalOfTheFirst();
    await running(module, journal)('arrive', { city: 'Turin', country: 'IT' });
    const failure: unknown = await running(first, journal)('get').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SvcError);
    expect(failure).toMatchObject({ code: 'SVC_EVENT_UNREADABLE' });
    expect(String(failure)).toMatch(
      /event 3 of entity 'p1' of component 'parcel': .*found "arrived"/,
    );
    expect(await storedIn(journal)).toHaveLength(3);
  });
});

test('new fields do not keep the first version from reading', () => {
  const event = { type: 'sent', to: 'Ada', grams: 250, speed: 'Slow', clerk: 'Bob' };
  testEntity(first, 'parcel', 'p1')
    .given([{ ...event, insured: true, sender: 'Cyd' }])
    .query('get')
    .thenReply({ to: 'Ada', grams: 250, place: '', delivered: false });
});

describe('is refused, with its place:', () => {
  const sent = { type: 'sent', to: 'Ada', grams: 250, speed: 'Slow', clerk: 'Bob' };
  const { to: _renamed, ...withoutTo } = sent;

  test.each([
    [
      'a renamed field that has no alias',
      first,
      { ...withoutTo, recipient: 'Ada' },
      /to: is missing/,
    ],
    [
      'a field that stands there under both of its names',
      module,
      { ...sent, recipient: 'Ada' },
      /recipient: is given twice: 'recipient' and 'to' are names of one field/,
    ],
    ['a new field without @optional', first, withoutTo, /to: is missing/],
    ['a number that the type has no longer', first, { ...sent, grams: 2 ** 31 }, /grams: must be/],
    ['a member that is not known', first, { ...sent, speed: 'Standard' }, /speed: must be/],
    ['a case that was removed', module, { type: 'lost' }, /type: .*"lost"/],
  ])('%s', (_name, version, event, message) => {
    expect(() => testEntity(version, 'parcel', 'p1').given([event])).toThrow(message);
  });
});
