// The main job, as a user has it: a real process, real HTTP, a real journal, and kill -9.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'shopping-cart.wasm');
const running: SvcProcess[] = [];

beforeAll(async () => writeFileSync(module, await compileFixture('shopping-cart')));
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.end('SIGKILL')));
});

async function start(
  data: string,
  ...options: string[]
): Promise<{ process: SvcProcess; url: string }> {
  const args = ['run', module, '--port', '0', '--data', join(folder, data), ...options];
  const process = new SvcProcess(args);
  running.push(process);
  return { process, url: await process.listening() };
}

const post = (url: string, body: unknown) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const cart = async (url: string, id: string) =>
  (await (await fetch(`${url}/carts/${id}`)).json()) as {
    items: { sku: string; quantity: number }[];
  };

describe('the shopping cart', () => {
  test('answers, refuses, checks out and begins again after its removal', async () => {
    const { url } = await start('walk');
    expect(await cart(url, 'c1')).toEqual({ id: 'c1', items: [], checkedOut: false });

    const added = await post(`${url}/carts/c1/items`, { sku: 'apple', quantity: 2 });
    expect(added.status).toBe(200);
    expect(await added.json()).toEqual({
      id: 'c1',
      items: [{ sku: 'apple', quantity: 2 }],
      checkedOut: false,
    });

    const refusals: [unknown, string][] = [
      [
        { sku: 'apple', quantity: 2.5 },
        'quantity: must be an integer from -2147483648 to 2147483647, found 2.5',
      ],
      [{ sku: 'apple' }, 'quantity'],
      [{ sku: 7, quantity: 1 }, 'sku'],
      [{ sku: 'apple', quantity: 0 }, 'quantity: must be positive'],
    ];
    for (const [body, message] of refusals) {
      const refused = await post(`${url}/carts/c1/items`, body);
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({
        status: 400,
        error: expect.stringContaining(message),
      });
    }
    expect((await cart(url, 'c1')).items).toEqual([{ sku: 'apple', quantity: 2 }]);

    expect((await fetch(`${url}/carts/c1/check-out`, { method: 'POST' })).status).toBe(204);
    const late = await post(`${url}/carts/c1/items`, { sku: 'pear', quantity: 1 });
    expect(late.status).toBe(409);
    expect(await late.json()).toEqual({ status: 409, error: 'the cart is checked out' });

    expect((await fetch(`${url}/carts/c1`, { method: 'DELETE' })).status).toBe(204);
    expect(await cart(url, 'c1')).toEqual({ id: 'c1', items: [], checkedOut: false });
  });

  test('is as it was after the process was killed and started again', async () => {
    const first = await start('restart');
    await post(`${first.url}/carts/a/items`, { sku: 'apple', quantity: 2 });
    await post(`${first.url}/carts/b/items`, { sku: 'pear', quantity: 3 });
    await fetch(`${first.url}/carts/b`, { method: 'DELETE' });
    await post(`${first.url}/carts/b/items`, { sku: 'plum', quantity: 1 });
    const before = [await cart(first.url, 'a'), await cart(first.url, 'b')];
    await first.process.end('SIGKILL');

    const second = await start('restart');
    expect([await cart(second.url, 'a'), await cart(second.url, 'b')]).toEqual(before);
    expect(before[1]!.items).toEqual([{ sku: 'plum', quantity: 1 }]);
  });

  test('killed under load, loses no answered command and applies none twice', async () => {
    const clients = 16;
    const { process, url } = await start('load');
    const answered = Array.from({ length: clients }, () => 0);
    const enough = Promise.withResolvers<void>();
    const client = async (id: number): Promise<void> => {
      for (;;) {
        const response = await post(`${url}/carts/load-${id}/items`, { sku: 'a', quantity: 1 });
        await response.json();
        expect(response.status).toBe(200);
        answered[id]!++;
        if (answered.every((count) => count >= 20)) enough.resolve();
      }
    };
    const loops = answered.map((_count, id) => client(id).catch(() => {}));
    await enough.promise;
    await process.end('SIGKILL');
    await Promise.all(loops);

    const again = await start('load');
    for (const [id, count] of answered.entries()) {
      const { items } = await cart(again.url, `load-${id}`);
      // One command of each client may have been stored without its answer arriving.
      expect([count, count + 1]).toContain(items[0]!.quantity);
    }
  });

  test('told to stop, finishes what is in flight and exits with 0', async () => {
    const { process, url } = await start('stop');
    const requests = Array.from({ length: 50 }, (_, id) =>
      post(`${url}/carts/s${id % 5}/items`, { sku: 'a', quantity: 1 }).then(
        async (response) => (await response.json(), response.status),
        () => 'not taken' as const,
      ),
    );
    await Promise.race(requests);
    const { code, signal } = await process.end('SIGTERM');
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    const answered = (await Promise.all(requests)).filter((status) => status === 200).length;
    expect(answered).toBeGreaterThan(0);

    const again = await start('stop');
    let stored = 0;
    for (let id = 0; id < 5; id++)
      stored += (await cart(again.url, `s${id}`)).items[0]?.quantity ?? 0;
    expect(stored).toBe(answered);
  });

  test('prints its address on stdout, and routes and three requests to try on stderr', async () => {
    const { process, url } = await start('announce', '--log', 'text');
    expect(process.stdout).toBe(`${url}\n`);
    await process.logged(/POST {4}\/carts\/\{id\}\/items/);
    await process.logged(/curl -X POST -H 'content-type: application\/json' -d '\{"sku":/);
    expect(process.stderr.match(/^ {2}curl /gm)).toHaveLength(3);
  });
});
