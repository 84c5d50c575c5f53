// Views, timers, schedules and consumers in an upgrade check, with two modules over a journal that the first has made.
import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ModuleDescriptor } from '@svc/contract';
import { checkUpgrade } from '../../../host/history/upgrade-check.ts';
import { type WasmSource, wasmSource } from '../../../host/hosting/guest-source.ts';
import { admitModule } from '../../../host/hosting/wasm/admission/admission.ts';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import { attachSqliteJournal } from '../../../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../../../host/storage/sqlite/sqlite-journal.ts';
import { VIEW_LIMITS_DEFAULT } from '../../../model/view-limits.ts';
import { FileViews } from '../../../host/storage/views/file-views.ts';
import { viewPath, viewsFolder } from '../../../host/storage/views/view-file.ts';
import { declaredViews } from '../../../host/views/view-definitions.ts';
import { append, recordOf } from '../../suites/journal-suite.ts';
import { changedSources } from '../../support/changed-sources.ts';
import { compileFixture, compileSources, sourcesOf } from '../../support/compile-fixture.ts';
import { edit } from '../../support/damaged-journal.ts';
import { scriptedJournal } from '../../support/scripted-journal.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { change, timerAt } from '../../support/timer-writes.ts';
import { withJournal } from '../../support/with-journal.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';

const SETTINGS = { wasm: WASM_LIMITS_DEFAULT };
const CHANGED_ROW = expect.stringMatching(/ was .* and is /) as string;
const PAID = 'if (event instanceof Paid) row.status = Status.paid;';

let orders: WasmSource;
/** Gives orders that are paid another status. */
let changed: WasmSource;
/** Faults when an order is paid. */
let faulting: WasmSource;

beforeAll(async () => {
  const sources = await sourcesOf('order-list');
  const module = async (...edits: (readonly [string, string])[]) =>
    wasmSource(admitModule(await compileSources('order-list', changedSources(sources, edits))));
  orders = wasmSource(admitModule(await compileFixture('order-list')));
  changed = await module([PAID, 'if (event instanceof Paid) row.cents = 0;']);
  faulting = await module([PAID, 'if (event instanceof Paid) throw new Error("nobody pays");']);
});

/** The source, as if its module had another descriptor. */
function declaring(source: WasmSource, parts: Partial<ModuleDescriptor>): WasmSource {
  return { ...source, descriptor: { ...source.descriptor, ...parts } };
}

/** The source, with this declared version of all its views. */
function withVersion(source: WasmSource, definition: string): WasmSource {
  const views = source.descriptor.views!.map((view) => ({ ...view, definition }));
  return declaring(source, { views });
}

async function journalOfOrders(): Promise<string> {
  const dir = temporaryFolder();
  await scriptedJournal(dir, orders.module, 'order', [
    ['a', 'place', 250],
    ['b', 'place', 90],
    ['b', 'pay'],
    ['c', 'place', 10],
    ['c', 'pay'],
  ]);
  return dir;
}

async function check(dir: string, now: WasmSource, before: WasmSource | undefined = orders) {
  return checkUpgrade({ location: journalIn(dir), now, before, settings: SETTINGS, threads: 1 });
}

describe('the rows of a view', () => {
  test('that differ are found while the version is the same, and not once it is another', async () => {
    const dir = await journalOfOrders();
    const before = withVersion(orders, '1');
    const { findings, records } = await check(dir, withVersion(changed, '1'), before);
    expect(records).toBe(5);
    expect(findings).toEqual([
      {
        name: 'view-rows-differ',
        component: 'orders',
        subject: 'status',
        message: expect.stringMatching(/^status has another value, and the definition/) as string,
        entities: 2,
        examples: [
          { id: 'b', problem: CHANGED_ROW },
          { id: 'c', problem: CHANGED_ROW },
        ],
      },
    ]);
    expect((await check(dir, withVersion(changed, '2'), before)).findings).toEqual([]);
    expect((await check(dir, changed)).findings).toEqual([]);
    expect((await check(dir, orders)).findings).toEqual([]);
  });

  test('stop where the new module faults, and the event is named', async () => {
    const dir = await journalOfOrders();
    const { findings } = await check(dir, faulting);
    expect(findings).toEqual([
      {
        name: 'view-stopped',
        component: 'orders',
        subject: 'order',
        message: "the view stops at a stored event of component 'order'",
        entities: 1,
        examples: [{ id: 'b', seq: 2, problem: expect.stringContaining('nobody pays') as string }],
      },
    ]);
    expect((await check(dir, faulting, faulting)).findings).toMatchObject([
      {
        examples: [{ problem: expect.stringMatching(/\(so did the version before\)$/) as string }],
      },
    ]);
  });

  test('lack the events that were skipped, and have them in another definition', async () => {
    const dir = await journalOfOrders();
    const { folded } = declaredViews(faulting.descriptor, faulting.fingerprint)[0]!;
    const writer = new FileViews(dir, VIEW_LIMITS_DEFAULT).openWriter(folded.stored);
    for (const id of ['b', 'c'])
      await writer.skip({ entity: { component: 'order', id }, seq: 2, reason: 'test', timeMs: 1 });
    writer.close();
    expect((await check(dir, faulting, faulting)).findings).toEqual([]);
    const { findings } = await check(dir, withVersion(faulting, '2'), faulting);
    expect(findings).toMatchObject([
      { name: 'view-stopped', examples: [{ problem: expect.not.stringContaining('so did') }] },
    ]);
    // A damaged file is made new, without what it skipped.
    writeFileSync(viewPath(viewsFolder(dir), folded.stored.definition), 'damage');
    expect((await check(dir, faulting)).findings).toMatchObject([{ name: 'view-stopped' }]);
  });

  test('are folded as far as a damaged record', async () => {
    const dir = await journalOfOrders();
    edit(dir, `UPDATE journal SET json = '{}' WHERE pos = 2`);
    const { findings } = await check(dir, faulting);
    expect(findings.map(({ name }) => name)).toEqual(['record-damaged']);
  });

  test('are folded without the module before, too', async () => {
    const dir = await journalOfOrders();
    const { findings } = await checkUpgrade({
      location: journalIn(dir),
      now: faulting,
      settings: SETTINGS,
      threads: 2,
    });
    expect(findings.map(({ name }) => name)).toEqual(['view-stopped']);
  });
});

describe('the declarations', () => {
  test('name views, queries, schedules and consumers that are gone', async () => {
    const dir = await journalOfOrders();
    const [view, ...others] = orders.descriptor.views!;
    const recurring = { command: 'pay', due: { kind: 'every', everyMs: 1000 } } as const;
    const before = declaring(orders, {
      schedules: [{ id: 'sweep', target: { component: 'order', id: 'a' }, ...recurring }],
      consumers: [{ id: 'ledger', sources: ['order'], start: 'beginning' }],
    });
    const now = declaring(orders, {
      views: [{ ...view!, queries: view!.queries.filter(({ name }) => name !== 'all') }, ...others],
      consumers: [{ id: 'book', sources: ['order'], start: 'beginning' }],
    });
    const { findings } = await check(dir, now, before);
    expect(findings.map(({ name, component, message }) => [name, component, message])).toEqual([
      ['view-query-removed', view!.id, "query 'all' is gone"],
      [
        'schedule-removed',
        'sweep',
        "schedule 'sweep' is gone, and its command 'pay' is sent no more",
      ],
      [
        'consumer-removed',
        'ledger',
        "consumer 'ledger' is gone; perhaps it was renamed to 'book': a consumer with another id begins anew",
      ],
    ]);
    const gone = (await check(dir, declaring(orders, { views: others }))).findings;
    expect(gone).toMatchObject([{ name: 'view-removed', message: `view '${view!.id}' is gone` }]);
  });
});

test('the declarations name sources that a consumer has no longer, or that are new', async () => {
  const dir = await journalOfOrders();
  const ledger = { id: 'ledger', start: 'beginning' as const };
  const before = declaring(orders, { consumers: [{ ...ledger, sources: ['order'] }] });
  const now = declaring(orders, { consumers: [{ ...ledger, sources: ['other'] }] });
  const { findings } = await check(dir, now, before);
  expect(findings).toMatchObject([
    {
      name: 'consumer-source-removed',
      component: 'ledger',
      subject: 'order',
      message: SOURCE_REMOVED,
    },
    {
      name: 'consumer-source-added',
      component: 'ledger',
      subject: 'other',
      message:
        "consumer 'ledger' gets events of component 'other' from where it is in the journal, and none of before",
    },
  ]);
});

const SOURCE_REMOVED =
  "consumer 'ledger' no longer handles events of component 'order', and those that wait for it are parked";

describe('what waits in the journal', () => {
  test('timers whose command is gone are named, whoever set them', async () => {
    const dir = await journalOfOrders();
    const entity = { component: 'order', id: 'a' };
    await withJournal(dir, async (journal) => {
      for (const name of ['remind', 'remind again'])
        await change(journal, entity, {
          ...timerAt(name, 1_700_000_000_000),
          target: entity,
          command: 'remind',
        });
      await change(journal, entity, {
        ...timerAt('kept', 1_700_000_000_000),
        target: entity,
        command: 'pay',
      });
    });
    expect((await check(dir, orders)).findings).toEqual([
      {
        name: 'timer-command-removed',
        component: 'order',
        subject: 'remind',
        message: "there is no command 'remind' of component 'order', and timers send it",
        entities: 2,
        examples: [
          { id: 'a', problem: "timer 'remind' is pending, due at 2023-11-14T22:13:20.000Z" },
          { id: 'a', problem: "timer 'remind again' is pending, due at 2023-11-14T22:13:20.000Z" },
        ],
      },
    ]);
  });

  test('events that wait for a consumer that is gone are named', async () => {
    const dir = temporaryFolder();
    const opened = await openSqliteJournal(dir);
    const journal = attachSqliteJournal(opened.connect());
    const entity = { component: 'order', id: 'a' };
    const event = { manifest: 'order-event', json: '{"type":"paid"}' };
    await append(journal, entity, { ...recordOf(1), kind: 'event', event });
    const lane = {
      entity,
      seq: 1,
      attempts: 10,
      round: 10,
      nextMs: undefined,
      reason: 'no account',
    };
    await opened.settleConsumer(
      { id: 'ledger', start: 'beginning' },
      { position: '1', lanes: [lane], rejoined: [] },
    );
    await journal.close();
    await opened.close();
    const found = {
      name: 'consumer-removed',
      component: 'ledger',
      message: "consumer 'ledger' is gone",
      entities: 1,
      examples: [{ id: 'a', seq: 1, problem: 'the event is parked: no account' }],
    };
    expect((await check(dir, orders)).findings).toMatchObject([found]);
    const ledger = { id: 'ledger', sources: ['order'], start: 'beginning' as const };
    const kept = declaring(orders, { consumers: [ledger] });
    expect((await check(dir, orders, kept)).findings).toMatchObject([found]);
    expect((await check(dir, kept, kept)).findings).toEqual([]);
    const elsewhere = declaring(orders, { consumers: [{ ...ledger, sources: [] }] });
    expect((await check(dir, elsewhere)).findings).toMatchObject([
      { ...found, name: 'consumer-source-removed', subject: 'order', message: SOURCE_REMOVED },
    ]);
  });
});
