// ViewVerification: views of a module over a journal, in other orders between entities, and beside the rows of a service.
import { cpSync, readdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type VerifiedView, verifyViews } from '../../../host/history/view-verification.ts';
import { type WasmSource, wasmSource } from '../../../host/hosting/guest-source.ts';
import { startGuest } from '../../../host/hosting/start-guest.ts';
import { admitModule } from '../../../host/hosting/wasm/admission/admission.ts';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import type { SkippedEvent } from '../../../host/engine/needs/views.ts';
import { VIEW_LIMITS_DEFAULT } from '../../../model/view-limits.ts';
import { JournalFeed } from '../../../host/storage/sqlite/tools/journal-feed.ts';
import { rowChecksum } from '../../../host/storage/views/row-checksum.ts';
import { FileViews } from '../../../host/storage/views/file-views.ts';
import { viewPath, viewsFolder } from '../../../host/storage/views/view-file.ts';
import { declaredViews } from '../../../host/views/view-definitions.ts';
import { ViewFold } from '../../../host/views/view-fold.ts';
import { changedSources } from '../../support/changed-sources.ts';
import { compileFixture, compileSources, sourcesOf } from '../../support/compile-fixture.ts';
import { edit } from '../../support/damaged-journal.ts';
import { scriptedJournal } from '../../support/scripted-journal.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';

const SETTINGS = { wasm: WASM_LIMITS_DEFAULT };

const SOUND: VerifiedView = { view: 'orders', findings: [], failure: undefined };

let orders: WasmSource;

beforeAll(async () => {
  orders = wasmSource(admitModule(await compileFixture('order-list')));
});

/** A journal of orders whose events take turns. */
async function journalOf(ids: readonly string[]): Promise<string> {
  const dir = temporaryFolder();
  await scriptedJournal(dir, orders.module, 'order', [
    ...ids.map((id, at) => [id, 'place', 100 + at] as const),
    ...ids.map((id) => [id, 'pay'] as const),
  ]);
  return dir;
}

async function verified(dir: string, source = orders): Promise<readonly VerifiedView[]> {
  return Array.fromAsync(verifyViews({ source, settings: SETTINGS, location: journalIn(dir) }));
}

/** The writer of a view's file, which folds records as a service does. */
async function serving(
  dir: string,
  view: string,
  { source = orders, skip }: { source?: WasmSource; skip?: SkippedEvent } = {},
) {
  const { folded } = declaredViews(source.descriptor, source.fingerprint).find(
    (one) => one.folded.id === view,
  )!;
  const guest = await startGuest(source, SETTINGS, () => {});
  const feed = new JournalFeed(dir);
  const writer = new FileViews(dir, VIEW_LIMITS_DEFAULT).openWriter(folded.stored);
  if (skip !== undefined) await writer.skip(skip);
  const fold = new ViewFold({
    view: folded,
    guest: guest.views!,
    feed,
    writer,
    foldedTo: writer.foldedTo,
    skips: writer.skips,
    limits: VIEW_LIMITS_DEFAULT,
  });
  return {
    path: viewPath(viewsFolder(dir), folded.stored.definition),
    async foldTo(records: number): Promise<void> {
      while (Number(fold.position) < records) await fold.step(records - Number(fold.position));
    },
    async close(): Promise<void> {
      writer.close();
      feed.close();
      await guest.close();
    },
  };
}

/** Folds records into the file of a view, as a service does that has stopped since; returns the file's path. */
async function served(dir: string, view: string, records: number): Promise<string> {
  const service = await serving(dir, view);
  await service.foldTo(records);
  await service.close();
  return service.path;
}

function writeRow(path: string, key: string, json: string): void {
  const database = new DatabaseSync(path);
  database
    .prepare('UPDATE row SET json = ?, crc = ? WHERE key = ?')
    .run(json, rowChecksum(key, json), key);
  database.close();
}

describe('the order between entities', () => {
  test('must not change rows: a list in the order of arrival is found, rows of single entities are not', async () => {
    const dir = await journalOf(['a', 'b', 'c']);
    const found = await verified(dir);
    expect(found.find(({ view }) => view === 'orders')).toEqual(SOUND);
    expect(found.find(({ view }) => view === 'amounts')).toEqual({
      view: 'amounts',
      failure: undefined,
      findings: [
        {
          way: 'entity-order',
          rows: 1,
          examples: [{ key: 'all', path: 'orders[0]', expected: '"a"', found: '"c"' }],
          problem: undefined,
        },
      ],
    });
    expect(readdirSync(dir).toSorted()).toEqual(['journal.sqlite', 'lock']);
  });

  test('is the same for one entity', async () => {
    const dir = await journalOf(['a']);
    expect((await verified(dir)).flatMap(({ findings }) => findings)).toEqual([]);
  });

  test('must not make a view stop', async () => {
    const dir = await journalOf(['a', 'b']);
    const sources = changedSources(await sourcesOf('order-list'), [
      [
        'next.orders.push(order);',
        'next.orders.push(order); if (next.orders.length == 2 && order == "a") throw new Error("first");',
      ],
    ]);
    const source = wasmSource(admitModule(await compileSources('order-list', sources)));
    expect((await verified(dir, source)).find(({ view }) => view === 'amounts')).toMatchObject({
      findings: [
        {
          way: 'entity-order',
          problem: expect.stringMatching(/^at event 1 of entity 'a' .*first/) as string,
        },
      ],
    });
  });
});

describe('the rows of a service', () => {
  test('are compared with a fold up to their position', async () => {
    const dir = await journalOf(['a', 'b', 'c']);
    const path = await served(dir, 'orders', 4);
    expect((await verified(dir)).find(({ view }) => view === 'orders')).toEqual(SOUND);
    writeRow(path, 'b', '{"status":"expired","cents":101}');
    expect((await verified(dir)).find(({ view }) => view === 'orders')?.findings).toMatchObject([
      {
        way: 'stored-rows',
        rows: 1,
        examples: [{ key: 'b', path: 'status', expected: '"placed"', found: '"expired"' }],
      },
    ]);
    expect(readdirSync(join(dir, 'views')).filter((name) => /-wal$|-shm$/.test(name))).toEqual([]);
  });

  test('are compared while the service writes them', async () => {
    const dir = await journalOf(['a', 'b', 'c']);
    const service = await serving(dir, 'orders');
    await service.foldTo(2);
    expect(readdirSync(join(dir, 'views')).filter((name) => name.endsWith('-wal'))).toHaveLength(1);
    const [found] = await Promise.all([verified(dir), service.foldTo(6)]);
    expect(found.find(({ view }) => view === 'orders')).toEqual(SOUND);
    writeRow(service.path, 'b', '{"status":"expired","cents":101}');
    expect((await verified(dir)).find(({ view }) => view === 'orders')?.findings).toMatchObject([
      { way: 'stored-rows', examples: [{ key: 'b', expected: '"paid"', found: '"expired"' }] },
    ]);
    await service.close();
  });

  test('may lack an event that was skipped', async () => {
    const dir = await journalOf(['a', 'b']);
    const sources = changedSources(await sourcesOf('order-list'), [
      [
        'if (event instanceof Paid) row.status = Status.paid;',
        'if (event instanceof Paid && context.entityId == "a") throw new Error("a does not pay");',
      ],
    ]);
    const source = wasmSource(admitModule(await compileSources('order-list', sources)));
    const skip = { entity: { component: 'order', id: 'a' }, seq: 2, reason: 'test', timeMs: 1 };
    const service = await serving(dir, 'orders', { source, skip });
    await service.foldTo(4);
    await service.close();
    expect((await verified(dir, source)).find(({ view }) => view === 'orders')).toEqual(SOUND);
  });

  test('that are damaged are named', async () => {
    const dir = await journalOf(['a', 'b']);
    const path = await served(dir, 'orders', 4);
    const database = new DatabaseSync(path);
    database.exec(`UPDATE row SET json = '{}' WHERE key = 'a'`);
    database.close();
    expect((await verified(dir)).find(({ view }) => view === 'orders')?.failure).toMatchObject({
      code: 'SVC_VIEW_CORRUPT',
    });
  });

  test('that belong to another journal are left out', async () => {
    const dir = await journalOf(['a', 'b']);
    await served(dir, 'orders', 4);
    const other = await journalOf(['c', 'd']);
    cpSync(viewsFolder(dir), viewsFolder(other), { recursive: true });
    const found = await verified(other);
    expect(found.find(({ view }) => view === 'orders')).toEqual(SOUND);
  });
});

describe('a view that cannot be folded', () => {
  test('is not judged, and the event is named', async () => {
    const dir = await journalOf(['a', 'b']);
    const sources = changedSources(await sourcesOf('order-list'), [
      [
        'if (event instanceof Paid) row.status = Status.paid;',
        'if (event instanceof Paid) throw new Error("nobody pays");',
      ],
    ]);
    const source = wasmSource(admitModule(await compileSources('order-list', sources)));
    expect((await verified(dir, source)).find(({ view }) => view === 'orders')).toMatchObject({
      findings: [],
      failure: {
        code: 'SVC_VIEW_STOPPED',
        message: expect.stringMatching(/stops at event 2 of entity 'a' .*nobody pays/) as string,
      },
    });
  });

  test('because a record is damaged is not judged', async () => {
    const dir = await journalOf(['a', 'b']);
    edit(dir, `UPDATE journal SET json = '{}' WHERE pos = 2`);
    expect((await verified(dir))[0]).toMatchObject({ failure: { code: 'SVC_JOURNAL_CORRUPT' } });
  });
});
