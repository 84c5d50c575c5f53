// The paths of the observability endpoint for timers, views and consumers, of real services; nothing is changed by them.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function serve(fixture: string) {
  const folder = temporaryFolder();
  const running = join(folder, 'running');
  mkdirSync(running);
  const file = join(folder, 'module.wasm');
  writeFileSync(file, await compileFixture(fixture));
  const words = ['run', file, '--port', '0', '--data', join(folder, 'data'), '--shards', '1'];
  const service = new SvcProcess(words, { env: { SVC_RUNNING_DIR: running } });
  onTestFinished(async () => void (await service.end('SIGKILL')));
  const url = await service.listening();
  const [registration] = readdirSync(running);
  const { observabilityAddress } = JSON.parse(
    readFileSync(join(running, registration!), 'utf8'),
  ) as { observabilityAddress: string };
  const get = async (path: string) => {
    const answer = await fetch(`${observabilityAddress}/observability/${path}`);
    return { status: answer.status, body: (await answer.json()) as object };
  };
  return { url, get };
}

test('timers, of all owners and of one', async () => {
  const { url, get } = await serve('expiring-order');
  expect(await get('timers')).toEqual({
    status: 200,
    body: { timers: [], damaged: 0, next: null },
  });
  const headers = { 'content-type': 'application/json' };
  for (const id of ['o1', 'o2'])
    await fetch(`${url}/orders/${id}`, { method: 'PUT', headers, body: '{"cents":100}' });
  await fetch(`${url}/orders/o1/reminders`, { method: 'PUT', headers, body: '{"text":"now"}' });
  const expire = { owner: { component: 'order', id: 'o1' }, name: 'expire', state: 'pending' };
  expect(await get('timers?component=order&id=o1')).toMatchObject({
    status: 200,
    body: {
      timers: [
        { ...expire, command: 'expire', input: 'null', schedule: null, attempts: 0, fault: null },
        { name: 'remind', schedule: '0 9 * * * Europe/Berlin', input: '{"text":"now"}' },
      ],
    },
  });
  const { body } = await get('timers?limit=2');
  expect(body).toMatchObject({ timers: [expire, {}], next: 2 });
  expect(await get('timers?after=2')).toMatchObject({ body: { timers: [{}], next: null } });
  expect(await get('timers?state=dead')).toMatchObject({ body: { timers: [] } });
  expect(await get('timers?owner=service')).toMatchObject({ body: { timers: [] } });
  for (const wrong of [
    'state=gone',
    'component=order',
    'id=o1',
    'owner=order',
    'limit=201',
    'after=-1',
  ])
    expect(await get(`timers?${wrong}`)).toMatchObject({ status: 400 });
});

test('views, and rows by a query', async () => {
  const { url, get } = await serve('order-list');
  expect((await fetch(`${url}/orders`)).status).toBe(200);
  expect(await get('views')).toMatchObject({
    status: 200,
    body: {
      views: [
        {
          view: 'orders',
          state: 'live',
          lagRecords: 0,
          problem: null,
          skipped: [],
          sources: ['order'],
          queries: [
            { name: 'of-status', parameters: {} },
            { name: 'all', where: '' },
          ],
        },
        { view: 'amounts' },
      ],
    },
  });
  expect(await get('views/orders/all')).toEqual({ status: 200, body: { rows: [], next: null } });
  const paid = encodeURIComponent('{"status":"paid"}');
  expect(await get(`views/orders/of-status?input=${paid}&limit=1000`)).toMatchObject({
    status: 200,
  });
  expect(await get('views/orders/of-status')).toMatchObject({ status: 400 });
  expect(await get('views/orders/all?cursor=forged')).toMatchObject({ status: 400 });
  expect(await get('views/orders/all?limit=1001')).toMatchObject({ status: 400 });
  expect(await get('views/orders/nothing')).toMatchObject({ status: 404 });
  expect(await get('views/nothing/all')).toMatchObject({ status: 404 });
});

test('consumers, and the entities whose events wait', async () => {
  const { url, get } = await serve('order-bookkeeping');
  await fetch(`${url}/orders/o1`, { method: 'PUT' });
  await fetch(`${url}/orders/o1`, { method: 'DELETE' });
  await expect
    .poll(() => get('consumers/bookkeeping'), { timeout: 20_000 })
    .toMatchObject({
      status: 200,
      body: {
        consumer: 'bookkeeping',
        lanes: [
          { entity: { component: 'order', id: 'o1' }, event: 2, state: 'parked', next: null },
        ],
        next: null,
      },
    });
  expect(await get('consumers')).toMatchObject({
    body: { consumers: [{ consumer: 'bookkeeping', start: 'beginning', parked: 1, retrying: 0 }] },
  });
  expect(await get('consumers/bookkeeping?state=retrying')).toMatchObject({ body: { lanes: [] } });
  expect(await get('consumers/nothing')).toMatchObject({ status: 200, body: { lanes: [] } });
  expect(await get('consumers/bookkeeping?state=gone')).toMatchObject({ status: 400 });
});
