// UpgradeCheck on journals that are large, damaged, in use or unusual. Its findings for each kind of change are
// tested in test/upgrade/.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkUpgrade, type UpgradeAnswer } from '../../../host/history/upgrade-check.ts';
import { type GuestSource, wasmSource } from '../../../host/hosting/guest-source.ts';
import { admitModule } from '../../../host/hosting/wasm/admission/admission.ts';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import type { JournalRecord } from '../../../model/entity.ts';
import { append } from '../../suites/journal-suite.ts';
import { changedSources } from '../../support/changed-sources.ts';
import { compileFixture, compileSources, sourcesOf } from '../../support/compile-fixture.ts';
import { journalOfFormat, PAST_FORMATS } from '../../support/journal-of-format.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withJournal } from '../../support/with-journal.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';

const SETTINGS = { wasm: WASM_LIMITS_DEFAULT };
const APPLY = 'state.value += (event as Added).amount;';
const TRAPS = `if ((event as Added).amount == 7) throw new Error("seven"); else ${APPLY}`;

let counter: GuestSource;
/** Traps when it folds an event of 7. */
let trapping: GuestSource;
/** Refuses numbers above 255, and counts one too many for each event. */
let refusing: GuestSource;
/** A module without a component of this name. */
let renamed: GuestSource;

beforeAll(async () => {
  const sources = await sourcesOf('counter');
  const changed = async (...edits: (readonly [string, string])[]) =>
    wasmSource(admitModule(await compileSources('counter', changedSources(sources, edits))));
  counter = wasmSource(admitModule(await compileFixture('counter')));
  trapping = await changed([APPLY, TRAPS]);
  refusing = await changed(
    ['CounterEvent { amount: i32 = 0; }', 'CounterEvent { amount: u8 = 0; }'],
    ['{ amount: input.amount }', '{ amount: <u8>input.amount }'],
    [APPLY, `state.value += 1 + (event as Added).amount;`],
  );
  renamed = await changed(['@entity("counter")', '@entity("tally")']);
});

type Step = number | 'deleted' | { readonly json: string; readonly manifest?: string };

function recordsOf(steps: readonly Step[]): JournalRecord[] {
  return steps.map((step, index): JournalRecord => {
    const head = { seq: index + 1, timeMs: 1, seed: 1n, trace: undefined, key: undefined };
    if (step === 'deleted') return { ...head, kind: 'deleted' };
    const event =
      typeof step === 'number'
        ? { manifest: 'CounterEvent', json: `{"type":"added","amount":${step}}` }
        : { manifest: step.manifest ?? 'CounterEvent', json: step.json };
    return { ...head, kind: 'event', event };
  });
}

async function journalOf(
  histories: Readonly<Record<string, readonly Step[]>>,
  component = 'counter',
): Promise<string> {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    for (const [id, steps] of Object.entries(histories))
      expect(await append(journal, { component, id }, ...recordsOf(steps))).toBeUndefined();
  });
  return dir;
}

async function check(
  dir: string,
  now: GuestSource,
  before: GuestSource | undefined = counter,
  threads = 1,
): Promise<UpgradeAnswer> {
  return checkUpgrade({ location: journalIn(dir), now, before, settings: SETTINGS, threads });
}

const many = (count: number, step: (index: number) => Step): Step[] =>
  Array.from({ length: count }, (_, index) => step(index));

describe('a module that stays', () => {
  test('is safe, whatever the journal has: many lives, empty entities, long histories', async () => {
    const dir = await journalOf({
      long: many(3_000, () => 1),
      lives: [1, 'deleted', 'deleted', 2, 'deleted', 3],
      gone: [1, 'deleted'],
    });
    expect(await check(dir, counter)).toEqual({
      entities: 3,
      records: 3_008,
      findings: [],
      compared: 'module',
    });
  });

  test('is safe on a journal without an entity', async () => {
    expect(await check(await journalOf({}), counter)).toEqual({
      entities: 0,
      records: 0,
      findings: [],
      compared: 'module',
    });
  });
});

describe('what is found of one entity', () => {
  test('is found whatever another one does to the module', async () => {
    const histories = Object.fromEntries(
      many(40, () => 0).map((_, n) => [
        `e${String(n).padStart(2, '0')}`,
        [1, n % 2 === 0 ? 7 : 300],
      ]),
    );
    const dir = await journalOf(histories);
    const found = await check(dir, trapping);
    expect(found.findings).toMatchObject([
      {
        name: 'fold-trapped',
        entities: 20,
        examples: [
          { id: 'e00', seq: 2, problem: expect.stringContaining('seven') as string },
          { id: 'e02' },
          { id: 'e04' },
          { id: 'e06' },
          { id: 'e08' },
        ],
      },
    ]);
    expect((await check(dir, refusing)).findings).toMatchObject([
      { name: 'event-refused', entities: 20, examples: [{ id: 'e01', seq: 2 }, {}, {}, {}, {}] },
      { name: 'state-differs', entities: 20, examples: [{ id: 'e00', seq: 2 }, {}, {}, {}, {}] },
    ]);
  });

  test('is reported with the event, also deep in a long history and in an earlier incarnation', async () => {
    const dir = await journalOf({
      deep: many(2_500, (index) => (index === 2_345 ? 7 : 1)),
      life: [1, 2, 7, 'deleted', 1],
    });
    expect((await check(dir, trapping)).findings).toMatchObject([
      {
        entities: 2,
        examples: [
          { id: 'deep', seq: 2_346 },
          { id: 'life', seq: 3 },
        ],
      },
    ]);
  });

  test('is counted once, however many of its lives it is in', async () => {
    const dir = await journalOf({ lives: [7, 'deleted', 7, 'deleted', 7] });
    expect((await check(dir, trapping)).findings).toMatchObject([
      { entities: 1, examples: [{ id: 'lives', seq: 1 }] },
    ]);
  });

  test('is found also of more entities than are looked at closely', async () => {
    const dir = await journalOf(
      Object.fromEntries(many(260, () => 0).map((_, n) => [`e${n}`, [7] as Step[]])),
    );
    const { findings } = await check(dir, trapping);
    expect(findings).toMatchObject([{ name: 'fold-trapped', entities: 260 }]);
    expect(findings[0]!.examples).toHaveLength(5);
  });

  test('says so when the module before did no better', async () => {
    const dir = await journalOf({ odd: [1, { json: '{"type":"lost"}' }] });
    expect((await check(dir, counter)).findings).toMatchObject([
      {
        name: 'event-refused',
        subject: 'lost type',
        examples: [
          {
            id: 'odd',
            seq: 2,
            problem: expect.stringMatching(/\(so did the version before\)$/) as string,
          },
        ],
      },
    ]);
  });
});

describe('events that nobody reads', () => {
  test('are reported by component and manifest', async () => {
    const dir = await journalOf({ a: [1, { manifest: 'OldEvent', json: '{}' }], b: [1] });
    expect((await check(dir, renamed)).findings).toMatchObject([
      { name: 'manifest-unread', subject: 'CounterEvent', entities: 2 },
      {
        name: 'manifest-unread',
        subject: 'OldEvent',
        entities: 1,
        examples: [{ id: 'a', seq: 2 }],
      },
    ]);
  });

  test('are found where the component is there and reads another manifest', async () => {
    const dir = await journalOf({
      a: [1, { manifest: 'OldEvent', json: '{"type":"added","amount":1}' }],
    });
    expect((await check(dir, counter)).findings).toMatchObject([
      {
        name: 'manifest-unread',
        message: "events 'OldEvent' are stored, and the new version reads 'CounterEvent'",
        examples: [{ id: 'a', seq: 2 }],
      },
    ]);
  });

  test('of a component that neither module has are found too', async () => {
    const dir = await journalOf({ a: [1] }, 'unknown');
    expect((await check(dir, counter)).findings).toMatchObject([
      { name: 'manifest-unread', component: 'unknown' },
    ]);
  });
});

test('without the module before, what is refused and what traps is found, and no state is compared', async () => {
  const dir = await journalOf({ a: [1], b: [300], c: [7] });
  const alone = async (now: GuestSource) =>
    (await checkUpgrade({ location: journalIn(dir), now, settings: SETTINGS, threads: 1 }))
      .findings;
  expect(await alone(refusing)).toMatchObject([{ name: 'event-refused', examples: [{ id: 'b' }] }]);
  expect(await alone(trapping)).toMatchObject([{ name: 'fold-trapped', examples: [{ id: 'c' }] }]);
});

async function written(descriptors: readonly string[]): Promise<UpgradeAnswer> {
  const dir = await journalOf({ a: [1] });
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  const note = database.prepare(
    "INSERT INTO module (fingerprint, from_pos, time_ms, descriptor) VALUES ('f', 1, 1, ?)",
  );
  for (const descriptor of descriptors) note.run(descriptor);
  database.close();
  return checkUpgrade({ location: journalIn(dir), now: counter, settings: SETTINGS, threads: 1 });
}

describe('without the module before, declarations are compared with those of the one that has written last,', () => {
  test('as the journal knows it', async () => {
    const { descriptor } = counter;
    const [entity] = descriptor.entities;
    const more = {
      ...entity!,
      commands: [...entity!.commands, { ...entity!.queries[0]!, name: 'reset' }],
    };
    const last = JSON.stringify({ ...descriptor, entities: [more] });
    expect(await written([JSON.stringify(descriptor), last])).toMatchObject({
      compared: 'descriptor',
      findings: [{ name: 'command-removed', subject: 'reset' }],
    });
  });

  test.each([[[]], [['{']]])('and with none when it knows none: %j', async (descriptors) => {
    expect(await written(descriptors)).toMatchObject({ compared: 'nothing', findings: [] });
  });

  test.each(PAST_FORMATS)('which a journal of format %i does not know', async (format) => {
    const dir = journalOfFormat(format);
    expect(
      await checkUpgrade({
        location: journalIn(dir),
        now: counter,
        settings: SETTINGS,
        threads: 1,
      }),
    ).toMatchObject({
      compared: 'nothing',
      // That of format 5 has timers, too, which nothing handles any more.
      findings: expect.arrayContaining([
        expect.objectContaining({
          name: 'manifest-unread',
          component: 'shopping-cart',
          entities: 2,
        }),
      ]),
    });
  });
});

async function damaged(sql: string): Promise<string> {
  const dir = await journalOf({ a: [1, 2, 7], b: [1, 7, 'deleted', 1], c: [1] });
  const database = new DatabaseSync(join(dir, 'journal.sqlite'));
  database.exec(sql);
  database.close();
  return dir;
}

const recordOf = (id: string, seq: number) =>
  `WHERE eno = (SELECT eno FROM entity WHERE id = '${id}') AND seq = ${seq}`;

describe('a damaged record', () => {
  test('is named, and what follows it in its life is left alone', async () => {
    const dir = await damaged(`UPDATE journal SET json = '{}' ${recordOf('a', 2)}`);
    expect((await check(dir, trapping)).findings).toMatchObject([
      {
        name: 'record-damaged',
        entities: 1,
        examples: [{ id: 'a', seq: 2, problem: 'it is not what was written' }],
      },
      { name: 'fold-trapped', examples: [{ id: 'b', seq: 2 }] },
    ]);
  });

  test('that is missing is named, in an earlier life as well', async () => {
    const dir = await damaged(`DELETE FROM journal ${recordOf('b', 1)}`);
    expect((await check(dir, counter)).findings).toMatchObject([
      { name: 'record-damaged', examples: [{ id: 'b', seq: 1, problem: 'record 1 is missing' }] },
    ]);
  });
});

test('three threads find what one finds, and count the same', async () => {
  const dir = await journalOf(
    Object.fromEntries(
      many(1_200, () => 0).map((_, n) => [`e${n}`, [1, n % 50 === 0 ? 300 : 2] as Step[]]),
    ),
  );
  const one = await check(dir, refusing);
  expect(one).toMatchObject({ entities: 1_200, records: 2_400 });
  expect(one.findings).toMatchObject([{ entities: 24 }, { entities: 1_176 }]);
  expect(await check(dir, refusing, counter, 3)).toEqual(one);
});

test('a check that is no longer wanted ends with the reason of its signal', async () => {
  const dir = await journalOf({ a: many(12_000, () => 1) });
  const stop = new AbortController();
  const question = { location: journalIn(dir), now: counter, settings: SETTINGS, threads: 1 };
  const reason = new Error('another module is there');
  await expect(
    checkUpgrade({ ...question, signal: stop.signal, onProgress: () => stop.abort(reason) }),
  ).rejects.toBe(reason);
  await expect(checkUpgrade({ ...question, signal: stop.signal })).rejects.toBe(reason);
});

test('progress goes up to all records', async () => {
  const dir = await journalOf({ a: many(12_000, () => 1), b: [1] });
  const told: number[] = [];
  await checkUpgrade({
    location: journalIn(dir),
    now: counter,
    settings: SETTINGS,
    threads: 1,
    onProgress: ({ records, recordsTotal }) => {
      told.push(records);
      expect(recordsTotal).toBe(12_001);
    },
  });
  expect(told.length).toBeGreaterThan(1);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(told.at(-1)).toBe(12_001);
});

test('a host that runs on the folder keeps running, and both modules fold what it stores meanwhile', async () => {
  const dir = temporaryFolder();
  await withJournal(dir, async (journal) => {
    const entity = { component: 'counter', id: 'a' };
    expect(await append(journal, entity, ...recordsOf(many(2_000, () => 1)))).toBeUndefined();
    const checking = check(dir, counter);
    const more = recordsOf(many(2_100, () => 1)).slice(2_000);
    expect(await append(journal, entity, ...more)).toBeUndefined();
    const { findings, records } = await checking;
    expect(findings).toEqual([]);
    expect([2_000, 2_100]).toContain(records);
  });
});

test('a folder without a journal, and a module that does not start, are failures with a code', async () => {
  await expect(check(temporaryFolder(), counter)).rejects.toMatchObject({
    code: 'SVC_JOURNAL_MISSING',
  });
  const sources = await sourcesOf('counter');
  const broken = changedSources(sources, [
    ['register<Counter>();', 'register<Counter>();\nthrow new Error("no start");'],
  ]);
  const module = wasmSource(admitModule(await compileSources('counter', broken)));
  await expect(check(await journalOf({ a: [1] }), module)).rejects.toMatchObject({
    code: 'SVC_MODULE_START_FAILED',
  });
});
