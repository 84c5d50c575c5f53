// The journey of a service with several instances on one machine, with real commands: svc up with a database server, a cart with three instances
// under load, one of them killed, a restart, another version, and the end of everything.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findPostgres } from '../../cli/one-machine/postgres-programs.ts';
import { InstanceFolder } from '../../control-plane/local/instance-folder.ts';
import { apartImageOf, ServiceRecords } from '../../control-plane/local/service-record.ts';
import { connectDatabase } from '../../host/storage/postgres/connect-database.ts';
import { CartVersions } from '../support/cart-versions.ts';
import { OneMachine, runs } from '../support/one-machine.ts';

const WAIT = { timeout: 120_000, interval: 50 };
const CARTS = 12;
const SENDERS = 6;
const RETRY_MS = 50;
const hasPostgres = findPostgres(process.env['PATH'] ?? '') !== undefined;
if (!hasPostgres) console.log('Several instances are not tested: there is no PostgreSQL');

/** Adds items to carts until it is stopped. What failed is sent again with the same key until it is answered. */
class CartLoad {
  readonly added = new Map<string, number>();
  readonly failures: string[] = [];
  readonly #machine: OneMachine;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #senders: Promise<void>;
  /** True: nothing new is added. */
  #isStopped = false;
  /** True: nothing is sent any more. */
  #isEnded = false;

  constructor(machine: OneMachine) {
    this.#machine = machine;
    const each = Array.from({ length: SENDERS }, (_, sender) => this.#send(sender));
    this.#senders = Promise.all(each).then(() => undefined);
    this.#senders.catch(() => {});
    onTestFinished(() => void (this.#isStopped = this.#isEnded = true));
  }

  get count(): number {
    return [...this.added.values()].reduce((sum, count) => sum + count, 0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#senders;
    this.#agent.destroy();
  }

  /** Quantity of each cart, as the service answers. */
  async stored(): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (const cart of this.added.keys()) {
      const { body } = await this.#request(`/carts/${cart}`);
      const { items } = JSON.parse(body) as { readonly items: readonly { quantity: number }[] };
      found.set(
        cart,
        items.reduce((sum, { quantity }) => sum + quantity, 0),
      );
    }
    return found;
  }

  async #send(sender: number): Promise<void> {
    for (let turn = 0; !this.#isStopped; turn++) {
      const cart = String((sender * 7 + turn) % CARTS);
      await this.#add(cart, `${sender}-${turn}`);
      this.added.set(cart, (this.added.get(cart) ?? 0) + 1);
    }
  }

  async #add(cart: string, key: string): Promise<void> {
    while (!this.#isEnded) {
      try {
        const answer = await this.#request(
          `/carts/${cart}/items`,
          { sku: 'tea', quantity: 1 },
          key,
        );
        if (answer.status === 200) return;
        this.failures.push(`${answer.status} ${answer.body}`);
      } catch (error) {
        this.failures.push(String(error));
      }
      await pause(RETRY_MS);
    }
    throw new Error('the test has ended');
  }

  #request(path: string, body?: object, key?: string): Promise<{ status: number; body: string }> {
    const { folder, ports } = this.#machine;
    const hostname = 'cart-shop.svc.localhost';
    return new Promise((resolve, reject) => {
      request(
        {
          host: '127.0.0.1',
          port: ports[0],
          path,
          method: body === undefined ? 'GET' : 'POST',
          servername: hostname,
          ca: readFileSync(join(folder, 'machine', 'ca.pem')),
          agent: this.#agent,
          headers: {
            host: `${hostname}:${ports[0]}`,
            'content-type': 'application/json',
            ...(key === undefined ? {} : { 'idempotency-key': key }),
          },
        },
        (response) =>
          void text(response).then(
            (answer) => resolve({ status: response.statusCode!, body: answer }),
            reject,
          ),
      )
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

const instancesOf = ({ folder }: OneMachine) =>
  InstanceFolder.readAll(join(folder, 'machine', 'instances'));

const processesOf = (machine: OneMachine) =>
  instancesOf(machine).flatMap(({ lastRun }) => lastRun?.process ?? []);

/** Whether an instance of the cart was refused beside those of another image. */
function isApart({ folder }: OneMachine): boolean {
  const records = new ServiceRecords(join(folder, 'machine', 'services')).readAll();
  return records.some((record) => apartImageOf(record) !== undefined);
}

interface Status {
  readonly lifecycle: string;
  readonly generation: number;
  readonly readyInstances: number;
  readonly database: string;
}

async function statusOf(machine: OneMachine): Promise<Status> {
  return JSON.parse(await machine.svc('service get cart --project shop -o json')) as Status;
}

const untilReady = (machine: OneMachine, generation: number, readyInstances: number) =>
  vi.waitFor(
    async () =>
      expect(await statusOf(machine)).toMatchObject({
        lifecycle: 'ready',
        generation,
        readyInstances,
      }),
    { ...WAIT, interval: 1000 },
  );

/** Requests that each instance has answered itself. */
async function requestsOf(machine: OneMachine): Promise<readonly number[]> {
  return await Promise.all(
    instancesOf(machine).map(async ({ spec: { address, ports } }) => {
      const metrics = await (
        await fetch(`http://${address}:${ports.management}/svc/metrics`)
      ).text();
      const lines = metrics.matchAll(/^svc_http_requests_total\S* (\d+)$/gm);
      return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
    }),
  );
}

test.skipIf(!hasPostgres)(
  'three instances of a cart share its load, one is killed, all are restarted and replaced, and no item is lost or counted twice',
  async () => {
    const machine = await OneMachine.make();
    await machine.upInBackground('--postgres');
    const cart = new CartVersions(join(machine.cwd, 'cart'));
    cart.describe('name: cart\ninstances: 3\n');
    await machine.svc('org create acme');
    await machine.svc('project create shop --organization acme');
    expect(await machine.svc('deploy cart --project shop')).toMatch(/cart is ready\.\n$/);
    await machine.svc('service expose cart --project shop');
    expect(await statusOf(machine)).toMatchObject({ readyInstances: 3, database: 'provisioned' });
    await vi.waitUntil(async () => (await machine.send('cart', '/carts/0')).status === 200, WAIT);

    // The role of the service reaches nothing but its database.
    const urlFile = join(machine.folder, 'machine', 'databases', 'shop', 'cart.url');
    await (await connectDatabase({ kind: 'file', path: urlFile })).close();
    const other = join(machine.cwd, 'other.url');
    writeFileSync(other, readFileSync(urlFile, 'utf8').replace(/[^/]+$/, 'postgres'));
    await expect(connectDatabase({ kind: 'file', path: other })).rejects.toMatchObject({
      code: 'SVC_DATABASE_UNUSABLE',
    });

    const load = new CartLoad(machine);
    await vi.waitUntil(() => load.count > 300, WAIT);
    for (const requests of await requestsOf(machine)) expect(requests).toBeGreaterThan(50);
    expect(load.failures).toEqual([]);

    const [killed, ...others] = processesOf(machine);
    process.kill(killed!.pid, 'SIGKILL');
    const before = load.count;
    await vi.waitUntil(
      () => processesOf(machine).length === 3 && processesOf(machine)[0]!.pid !== killed!.pid,
      WAIT,
    );
    await untilReady(machine, 1, 3);
    expect(others.filter(runs)).toHaveLength(2);
    await vi.waitUntil(() => load.count > before + 300, WAIT);
    // A restart replaces one instance after the other, and holds nothing; another version that understands the former one does so, too.
    const failures = load.failures.length;
    await machine.svc('service restart cart --project shop');
    await untilReady(machine, 2, 3);
    expect(load.failures.slice(failures)).toEqual([]);

    cart.rewordRefusal();
    expect(await machine.svc('deploy cart --project shop')).toMatch(/cart is ready: /);
    await untilReady(machine, 3, 3);
    expect(isApart(machine)).toBe(false);
    expect(load.failures.slice(failures)).toEqual([]);
    const refused = await machine.send('cart', '/carts/0/items', '{"sku":"tea","quantity":0}');
    expect(refused.body).toContain('quantity: must be at least 1');

    // The next version encodes the input of a command otherwise, so that all instances of the former one end before its own start.
    cart.dropNote();
    expect(await machine.svc('deploy cart --project shop')).toMatch(/cart is ready: /);
    await untilReady(machine, 4, 3);
    expect(isApart(machine)).toBe(true);
    expect(load.failures.slice(failures)).toEqual([]);
    await load.stop();
    expect(await load.stored()).toEqual(load.added);

    const { owner, programs } = machine.owner();
    const all = [owner, ...Object.values(programs), ...processesOf(machine)];
    expect(await machine.svc('down')).toContain('Stopped, with 3 instances of services.');
    expect(all.filter(runs)).toEqual([]);
    // What lasts is in the folder, for its user alone.
    const folder = join(machine.folder, 'postgres');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).filter((name) => name.startsWith('.s.'))).toEqual([]);
    expect(existsSync(join(machine.folder, 'machine', 'data', 'shop', 'cart'))).toBe(false);

    // The next start has the server without being asked for it, and with it the data.
    await machine.upInBackground();
    await vi.waitUntil(async () => (await machine.send('cart', '/carts/0')).status === 200, WAIT);
    const [item] = (
      JSON.parse((await machine.send('cart', '/carts/0')).body) as {
        readonly items: readonly { readonly quantity: number }[];
      }
    ).items;
    expect(item!.quantity).toBe(load.added.get('0'));
  },
  400_000,
);

test.skipIf(!hasPostgres)(
  'the database server starts again when it is killed, and ends with svc up that is killed',
  async () => {
    const machine = await OneMachine.make();
    await machine.upInBackground('--postgres');
    const server = () => machine.owner().programs['postgres'];
    const first = server()!;
    process.kill(first.pid, 'SIGKILL');
    await vi.waitUntil(() => ![undefined, first.pid].includes(server()?.pid), WAIT);
    const second = server()!;
    process.kill(machine.owner().owner.pid, 'SIGKILL');
    await vi.waitUntil(() => !runs(second), WAIT);
    await machine.upInBackground();
    expect(runs(server()!)).toBe(true);
  },
  240_000,
);
