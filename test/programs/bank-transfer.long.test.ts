// Transfers between accounts through an endpoint, in a real process that is killed again and again: a
// model of the accounts says what every balance has to be.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { compileExample } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { Random } from '../support/random.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const ACCOUNTS = Array.from({ length: 10 }, (_, number) => `a${number}`);
const OPENING_CENTS = 1000;
const CLIENTS = 24;

const folder = temporaryFolderOfFile();
const module = join(folder, 'bank.wasm');
const running: SvcProcess[] = [];

beforeAll(async () => writeFileSync(module, await compileExample('04-bank-transfer')));
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.end('SIGKILL')));
});

interface Order {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly cents: number;
}

async function start(): Promise<{ process: SvcProcess; url: string }> {
  const process = new SvcProcess(['run', module, '--port', '0', '--data', join(folder, 'data')]);
  running.push(process);
  return { process, url: await process.listening() };
}

const put = async (url: string, body: unknown): Promise<{ status: number; json: unknown }> => {
  const response = await fetch(url, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
};
const transfer = async (url: string, { id, ...order }: Order) =>
  put(`${url}/transfers/${id}`, order);
const statusOf = async (url: string, { id }: Order): Promise<string> =>
  ((await (await fetch(`${url}/transfers/${id}`)).json()) as { status: string }).status;

async function balances(url: string): Promise<Map<string, number>> {
  const read = async (id: string): Promise<[string, number]> => {
    const account = (await (await fetch(`${url}/accounts/${id}`)).json()) as { cents: number };
    return [id, account.cents];
  };
  return new Map(await Promise.all(ACCOUNTS.map(async (id) => read(id))));
}
const sum = (numbers: Iterable<number>): number => [...numbers].reduce((a, b) => a + b, 0);

/** Endless, and now and then to an account that nobody has opened. */
function* orders(random: Random): Generator<Order> {
  for (let number = 0; ; number++) {
    const from = random.pick(ACCOUNTS);
    const others = ACCOUNTS.filter((id) => id !== from);
    const to = random.chance(10) ? 'nobody' : random.pick(others);
    yield { id: `t${number}`, from, to, cents: 1 + random.below(400) };
  }
}

describe('transfers', () => {
  test('cut by kill -9 and repeated, lose no money, make none, and happen once', async () => {
    const supply = orders(new Random(7));
    const sent: Order[] = [];
    const answers = new Map<string, number>();
    let cut = 0;

    const first = await start();
    for (const id of ACCOUNTS)
      expect((await put(`${first.url}/accounts/${id}`, { cents: OPENING_CENTS })).status).toBe(200);
    const total = OPENING_CENTS * ACCOUNTS.length;

    let service = first;
    for (let round = 1; round <= 3 || (cut === 0 && round <= 30); round++) {
      const { process, url } = service;
      const enough = Promise.withResolvers<void>();
      const goal = answers.size + 40 + round;
      const client = async (): Promise<void> => {
        for (;;) {
          const order = supply.next().value as Order;
          sent.push(order);
          const { status } = await transfer(url, order);
          answers.set(order.id, status);
          if (answers.size >= goal) enough.resolve();
        }
      };
      // A client ends with the process that it talks to.
      const clients = Array.from({ length: CLIENTS }, async () => client().catch(() => {}));
      await enough.promise;
      await process.end('SIGKILL');
      await Promise.all(clients);

      service = await start();
      const open = sent.filter((order) => !answers.has(order.id));
      const statuses = await Promise.all(open.map(async (order) => statusOf(service.url, order)));
      const cutNow = open.filter((_order, at) => statuses[at] === 'running');
      const held = sum((await balances(service.url)).values());
      // Money under way is in neither account, and never in both.
      expect(held).toBeLessThanOrEqual(total);
      expect(held).toBeGreaterThanOrEqual(total - sum(cutNow.map(({ cents }) => cents)));
      cut += cutNow.length;
    }
    expect(cut).toBeGreaterThan(0);

    // Everything once more, and each twice at a time: those that were cut go on, the others stay.
    const { url } = service;
    const ends = await Promise.all(
      sent.map(async (order) =>
        Promise.all([transfer(url, order), transfer(url, order)]).then(([one, other]) => {
          expect(other).toEqual(one);
          expect([200, 409]).toContain(one.status);
          expect(answers.get(order.id) ?? one.status).toBe(one.status);
          return one.status;
        }),
      ),
    );
    const model = new Map(ACCOUNTS.map((id) => [id, OPENING_CENTS]));
    for (const [at, { from, to, cents }] of sent.entries())
      if (ends[at] === 200) {
        model.set(from, model.get(from)! - cents);
        model.set(to, model.get(to)! + cents);
      }
    const found = await balances(url);
    expect(found).toEqual(model);
    expect(sum(found.values())).toBe(total);
    expect(Math.min(...found.values())).toBeGreaterThanOrEqual(0);
    // Both ends were there to be seen, and a withdrawal was taken back.
    expect(new Set(ends)).toEqual(new Set([200, 409]));
    expect(sent.some(({ to }, at) => to === 'nobody' && ends[at] === 409)).toBe(true);
  }, 120_000);

  test('of one id are one transfer: another order under it is refused', async () => {
    const { url } = await start();
    await put(`${url}/accounts/x`, { cents: 10 });
    await put(`${url}/accounts/y`, { cents: 0 });
    const order: Order = { id: 'xy', from: 'x', to: 'y', cents: 4 };
    expect((await transfer(url, order)).status).toBe(200);
    for (const other of [{ cents: 5 }, { to: 'z' }, { from: 'y', to: 'x' }])
      expect((await transfer(url, { ...order, ...other })).status).toBe(409);
    expect(await (await fetch(`${url}/accounts/x`)).json()).toEqual({ id: 'x', cents: 6 });
  });
});
