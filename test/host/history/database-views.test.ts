// The views of a journal in a database, as tools and the console read them beside a service and after its end.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ViewInspection } from '../../../host/history/view-inspection.ts';
import { changeStoppedFolder } from '../../../host/service/stopped-folder.ts';
import type { JournalInDatabase } from '../../../host/storage/journal-location.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { order, orderService } from '../service/support/order-service.ts';

const SOON = { timeout: 20_000 };
let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.shared('18');
});

async function emptyDatabase() {
  const database = await server.freshDatabase();
  onTestFinished(() => database.end());
  const { source } = database;
  if (source.kind !== 'file') throw new Error('the URL of a test is in a file');
  const location: JournalInDatabase = { kind: 'postgres', source };
  const inspection = new ViewInspection(location);
  onTestFinished(() => inspection.close());
  return { storage: { database: { urlFile: source.path } }, location, inspection };
}

const ofAda = (limit: number, cursor?: string) => ({
  view: 'orders',
  query: 'of-customer',
  input: '{"customer":"ada"}',
  limit,
  cursor,
});

const rows = (...cents: number[]) => cents.map((n) => `{"customer":"ada","cents":${n}}`);

describe('views in a database', () => {
  test('are listed and queried beside their service, and after it', async () => {
    const { storage, location, inspection } = await emptyDatabase();
    const { service } = await orderService(storage);
    onTestFinished(() => service.stop(0));
    for (let cents = 1; cents <= 5; cents++)
      await service.call(order, `o${cents}`).place({ customer: 'ada', cents });
    const live = { view: 'orders', state: 'live', lagRecords: 0, lagSeconds: 0, progress: 1 };
    await expect
      .poll(() => inspection.list(), SOON)
      .toMatchObject([{ status: live, sources: ['order'], queries: ['of-customer', 'all'] }]);
    const page = await inspection.find(ofAda(3));
    expect(page).toMatchObject({ rows: rows(5, 4, 3) });
    const next = 'rows' in page ? page.cursor : undefined;
    expect(await inspection.find(ofAda(3, next))).toMatchObject({ rows: rows(2, 1) });
    expect(await inspection.find({ ...ofAda(3), query: 'other' })).toMatchObject({
      kind: 'refusal',
    });
    await service.stop();
    expect(await inspection.find(ofAda(1))).toMatchObject({ rows: rows(5) });

    // Without a service, its rows are removed for the next start to build them again.
    const rebuild = (view: string) => changeStoppedFolder(location, { kind: 'rebuild-view', view });
    expect(await rebuild('other')).toBe(false);
    expect(await rebuild('orders')).toBe(true);
    const [removed] = await inspection.list();
    expect(removed!.status).toMatchObject({ state: 'building', lagRecords: 5, progress: 0 });
    expect(removed!.status.lagSeconds).toBeGreaterThan(0);
    await expect(inspection.find(ofAda(1))).rejects.toMatchObject({ code: 'SVC_VIEW_REBUILDING' });
    const again = await orderService(storage);
    onTestFinished(() => again.service.stop(0));
    await expect
      .poll(() => inspection.find(ofAda(1)).catch(() => undefined), SOON)
      .toMatchObject({
        rows: rows(5),
      });
  });

  test('are missing where no service has run', async () => {
    const { inspection } = await emptyDatabase();
    const missing = { code: 'SVC_JOURNAL_MISSING' };
    await expect(inspection.list()).rejects.toMatchObject(missing);
    await expect(inspection.find(ofAda(1))).rejects.toMatchObject(missing);
  });
});
