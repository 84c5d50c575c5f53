// What the webhook service stores, in a folder and in a database: salts, the check of the master key, and segments that are removed as a whole.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createService } from '@svc/host';
import { VirtualClock } from '@svc/host/testing';
import type { Log } from '@svc/kit/log';
import { dataset } from '../../../webhooks/model/dataset.ts';
import { datasetKey, SEGMENT_MS, segmentOf } from '../../../webhooks/model/ids.ts';
import { SEGMENT_SETTINGS } from '../../../webhooks/segments/segment-settings.ts';
import { Segments } from '../../../webhooks/segments/segments.ts';
import { openStorage } from '../../../webhooks/storage/open-storage.ts';
import type { StorageChoice, WebhookStorage } from '../../../webhooks/storage/webhook-storage.ts';
import { checkMasterKey } from '../../../webhooks/subscriptions/master-key.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { reported } from '../reported-dataset.ts';
import { emptyDatabase, STORAGES, storedIn } from './storage-under-test.ts';

const DAY_MS = 86_400_000;
/** The last delivery of a segment has left the log after that. */
const KEPT_MS = SEGMENT_MS + 31 * DAY_MS;
const KEY = Buffer.alloc(32, 'the key of the tests');
const OTHER_KEY = Buffer.alloc(32, 'another key');

// Starting the server is no part of a test.
beforeAll(async () => void (await PostgresServer.shared('18')));

async function opened(choice: StorageChoice, log: Log = () => {}): Promise<WebhookStorage> {
  const storage = await openStorage(choice, log);
  onTestFinished(() => storage.close());
  return storage;
}

/** The segments in a storage, on a clock of the test. */
function segmentsIn(
  { segments }: WebhookStorage,
  clock: VirtualClock,
  logged: string[] = [],
): Segments {
  const started = new Segments({
    store: {
      list: () => segments.list(),
      remove: (number) => segments.remove(number),
      open: (number) =>
        createService({
          ...segments.journalOf(number),
          name: 'webhook-deliveries',
          entities: [dataset],
          http: false,
          settings: SEGMENT_SETTINGS,
          observability: { local: false },
          log: 'none',
        }),
    },
    clock,
    log: ({ message, fields }) => void logged.push(`${message} ${JSON.stringify(fields)}`),
  });
  onTestFinished(() => started.stop(0));
  return started;
}

/** Reports a dataset to the segment of the present, and returns the number of the segment. */
async function report(segments: Segments, clock: VirtualClock, id: string): Promise<number> {
  const { number, service } = await segments.at(clock.nowMs());
  const { tags, ...rest } = reported();
  const input = { ...rest, tags: [...tags], tenant: 'acme', id };
  expect(await service.call(dataset, datasetKey('acme', id)).report(input)).toMatchObject({
    isOk: true,
  });
  return number;
}

describe.each(STORAGES)('in %s', (_name, make) => {
  test('a salt is made once, found later, and another one after its removal', async () => {
    const choice = await make();
    const { salts } = await opened(choice);
    expect(await salts.find('acme', 0)).toBeUndefined();
    const made = await Promise.all(Array.from({ length: 8 }, () => salts.make('acme', 0)));
    const texts = made.map((salt) => Buffer.from(salt).toString('hex'));
    expect(new Set(texts).size).toBe(1);
    expect(made[0]).toHaveLength(32);
    const others = [await salts.make('acme', 1), await salts.make('acm\0', 0)];
    expect(new Set([made[0]!, ...others].map(String)).size).toBe(3);
    const again = (await opened(choice)).salts;
    expect(await again.find('acme', 0)).toEqual(made[0]);
    await again.remove('acme', 0);
    await again.remove('acme', 0);
    expect(await salts.find('acme', 0)).toBeUndefined();
    expect(await salts.make('acme', 0)).not.toEqual(made[0]);
  });

  test('another master key than the first one is refused, also if the check of it is gone', async () => {
    const choice = await make();
    const { keyCheck } = await opened(choice);
    await checkMasterKey(keyCheck, KEY);
    const later = await opened(choice);
    await checkMasterKey(later.keyCheck, KEY);
    const wrong = { code: 'SVC_MASTER_KEY_WRONG' };
    await expect(checkMasterKey(later.keyCheck, OTHER_KEY)).rejects.toMatchObject(wrong);
    await later.salts.make('acme', 0);
    const withoutCheck = {
      name: 'the storage',
      missing: 'no check',
      find: () => Promise.resolve(undefined),
      add: () => Promise.reject(new Error('nothing is stored')),
      hasSalts: () => later.keyCheck.hasSalts(),
    };
    await expect(checkMasterKey(withoutCheck, KEY)).rejects.toMatchObject(wrong);
  });

  test('a segment goes as a whole once its deliveries have left the log, and the others stay', async () => {
    const choice = await make();
    const storage = await opened(choice);
    const clock = new VirtualClock();
    const segments = segmentsIn(storage, clock);
    await segments.start();
    const first = await report(segments, clock, 'd1');
    clock.set(SEGMENT_MS);
    await clock.advance(0);
    const second = await report(segments, clock, 'd2');
    expect(second).toBe(first + 1);
    expect(new Set(await storage.segments.list())).toEqual(new Set([first, second]));
    clock.set(KEPT_MS - SEGMENT_MS);
    await clock.advance(0);
    await segments.removeExpired();
    expect(await storage.segments.list()).toEqual([second]);
    await segments.stop(0);

    const again = segmentsIn(await opened(choice), clock);
    await again.start();
    expect(again.newestFirst.map(({ number }) => number)).toEqual([second]);
    const { service } = again.find(second)!;
    expect(await service.call(dataset, datasetKey('acme', 'd2')).last()).toMatchObject({
      value: { seq: reported().seq },
    });
  });

  test('a removal without a segment does nothing, and neither does one that is repeated', async () => {
    const { segments } = await opened(await make());
    expect(await segments.list()).toEqual([]);
    await segments.remove(4157);
    await segments.remove(4157);
    expect(await segments.list()).toEqual([]);
  });
});

describe('in a database', () => {
  test('a server that admits too few connections for five weeks of deliveries is warned of at the start', async () => {
    const logged: string[] = [];
    await opened(storedIn(await emptyDatabase()), ({ level, message }) => {
      logged.push(`${level} ${message}`);
    });
    expect(logged).toEqual([
      expect.stringMatching(/^warn The server of the database admits \d\d connections, and/),
    ]);
  });

  test('schemas of others are no segments', async () => {
    const database = await emptyDatabase();
    const { segments } = await opened(storedIn(database));
    await database.sql(
      'CREATE SCHEMA svc_segment_; CREATE SCHEMA svc_segment_1234567; CREATE SCHEMA svc_segment_7x; CREATE SCHEMA svc_segment_12',
    );
    expect(await segments.list()).toEqual([12]);
  });

  test('a removal that is held up leaves the segment whole, is logged, and is finished by the next one', async () => {
    const database = await emptyDatabase();
    const storage = await opened(storedIn(database));
    const [clock, logged] = [new VirtualClock(), [] as string[]];
    const segments = segmentsIn(storage, clock, logged);
    await segments.start();
    const number = await report(segments, clock, 'd1');
    clock.set(KEPT_MS);
    await clock.advance(0);
    await database.sql(`BEGIN; SELECT FROM svc_segment_${number}.journal`);
    await segments.removeExpired();
    expect(logged).toEqual([expect.stringContaining('old deliveries cannot be removed')]);
    expect(await storage.segments.list()).toEqual([number]);
    await database.sql('ROLLBACK');
    await segments.removeExpired();
    expect(await storage.segments.list()).toEqual([]);
    const rows = await database.sql(
      "SELECT count(*)::int AS left FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname ~ 'segment'",
    );
    expect(rows).toEqual([{ left: 0 }]);
    expect(segmentOf(clock.nowMs())).toBeGreaterThan(number);
  });
});
