// An entity with a large state: it is placed in one event, changed in small ones, and comes back whole.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'order.wasm');
const running: SvcProcess[] = [];

beforeAll(async () => writeFileSync(module, await compileFixture('order')));
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.end('SIGKILL')));
});

async function start(data: string): Promise<{ process: SvcProcess; url: string }> {
  const process = new SvcProcess(['run', module, '--port', '0', '--data', join(folder, data)]);
  running.push(process);
  return { process, url: await process.listening() };
}

const send = async (method: string, url: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

interface Line {
  sku: string;
  name: string;
  quantity: number;
  cents: number;
  note: string;
}

/** Names beyond ASCII: they are longer in the journal than in the module's memory. */
const lines = (count: number): Line[] =>
  Array.from({ length: count }, (_, number) => ({
    sku: `sku-${number}`,
    name: `Schraube № ${number}, Größe ${number % 12}, 螺丝`,
    quantity: 1 + (number % 5),
    cents: 10 + number,
    note: number % 3 === 0 ? '🔩' : '',
  }));
const summary = (order: readonly Line[]) => ({
  lines: order.length,
  pieces: order.reduce((sum, { quantity }) => sum + quantity, 0),
  cents: order.reduce((sum, { quantity, cents }) => sum + quantity * cents, 0),
});

describe('an order of some hundred lines', () => {
  test('is placed, changed line by line, and is the same after kill -9', async () => {
    const first = await start('order');
    const order = lines(300);
    const placed = await send('PUT', `${first.url}/orders/o1`, order);
    expect(placed.status).toBe(200);
    expect(await placed.json()).toEqual(summary(order));

    const whole = await (await fetch(`${first.url}/orders/o1`)).text();
    expect(Buffer.byteLength(whole)).toBeGreaterThanOrEqual(20_000);
    expect(JSON.parse(whole)).toEqual(order);

    for (let number = 0; number < 300; number += 7) {
      order[number]!.quantity = number;
      const url = `${first.url}/orders/o1/lines/sku-${number}`;
      const changed = await send('PATCH', url, { quantity: number });
      expect(changed.status).toBe(200);
      expect(await changed.json()).toEqual(summary(order));
    }
    await first.process.end('SIGKILL');

    const { url } = await start('order');
    expect(await (await fetch(`${url}/orders/o1`)).json()).toEqual(order);
    expect(await (await fetch(`${url}/orders/o1/summary`)).json()).toEqual(summary(order));
    expect(await (await fetch(`${url}/orders/o1/lines/sku-7`)).json()).toEqual(order[7]);
  });

  test('is refused as a whole: a bad line leaves nothing behind', async () => {
    const { url } = await start('refused');
    const twice = [...lines(300), lines(1)[0]!];
    const refused = await send('PUT', `${url}/orders/o1`, twice);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({ status: 400, error: '[300].sku: is there twice' });

    const fraction = lines(300).map((line, at) => (at === 299 ? { ...line, cents: 0.5 } : line));
    const undecoded = await send('PUT', `${url}/orders/o1`, fraction);
    expect(undecoded.status).toBe(400);
    expect(await undecoded.json()).toMatchObject({
      error: expect.stringContaining('[299].cents: must be an integer'),
    });
    expect(await (await fetch(`${url}/orders/o1`)).json()).toEqual([]);
  });

  test('grows to a thousand lines and stays within the limits of a command', async () => {
    const { url } = await start('thousand');
    const order = lines(1000);
    expect((await send('PUT', `${url}/orders/big`, order)).status).toBe(200);
    const changes = Array.from({ length: 50 }, async (_, number) =>
      send('PATCH', `${url}/orders/big/lines/sku-${number}`, { quantity: 0 }),
    );
    for (const changed of await Promise.all(changes)) expect(changed.status).toBe(200);
    for (const line of order.slice(0, 50)) line.quantity = 0;
    const answer = await fetch(`${url}/orders/big/summary`);
    expect(await answer.json()).toEqual(summary(order));
  });
});
