// Consumers of a module that runs as a service of two shards: each event is handled in the shard of its entity, after a kill
// too, and what a consumer asks of other entities is done once.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { startDeployed } from '../support/deployed-service.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A transfer is booked with an account, which it names. An account refuses debts, and one transfer is parked for good. */
const bank = (consumers: string) => `
import { Consumer, Done, Effect, EventContext, EventSourcedEntity, Result, Start, Verdict, register } from "@svc/guest-sdk";
@data class Amount { to: string = ""; cents: i32 = 0; }
@data class Nothing {}
@data class Balance { cents: i32 = 0; bookings: i32 = 0; }
@data("transfer-event") abstract class TransferEvent {}
@variant("ordered") class Ordered extends TransferEvent { to: string = ""; cents: i32 = 0; }
@entity("transfer") class Transfer extends EventSourcedEntity<Nothing, TransferEvent> {
  empty(id: string): Nothing { return new Nothing(); }
  apply(state: Nothing, event: TransferEvent): Nothing { if (event instanceof Ordered) {} return state; }
  @command("order") order(state: Nothing, amount: Amount): Effect<Done> {
    const ordered = new Ordered();
    ordered.to = amount.to;
    ordered.cents = amount.cents;
    return this.persist(ordered).thenReply(new Done());
  }
}
@data("account-event") abstract class AccountEvent {}
@variant("booked") class Booked extends AccountEvent { cents: i32 = 0; }
@entity("account") class Account extends EventSourcedEntity<Balance, AccountEvent> {
  empty(id: string): Balance { return new Balance(); }
  apply(state: Balance, event: AccountEvent): Balance {
    if (event instanceof Booked) {
      state.cents += (event as Booked).cents;
      state.bookings += 1;
    }
    return state;
  }
  @command("book") book(state: Balance, amount: Amount): Effect<Done> {
    if (state.cents + amount.cents < 0) return this.refuse<Done>("no debts");
    const booked = new Booked();
    booked.cents = amount.cents;
    return this.persist(booked).thenReply(new Done());
  }
  @query("get") get(state: Balance): Balance { return state; }
}
${consumers}
@endpoint("/transfers/{id}") @access("internet") class Transfers {
  @post order(id: string, amount: Amount): Result<Done> { return new TransferClient(id).order(amount); }
}
@endpoint("/accounts/{id}") @access("internet") class Accounts {
  @get get(id: string): Result<Balance> { return new AccountClient(id).get(); }
}
register<Transfer>();
register<Account>();
register<Transfers>();
register<Accounts>();
`;
const ledger = (start: string) => `
@consumer("ledger", Start.${start}) class Ledger extends Consumer {
  @on("transfer") onTransfer(event: TransferEvent, context: EventContext): Verdict {
    if (!(event instanceof Ordered)) return this.done();
    const ordered = event as Ordered;
    if (context.entityId == "poison") unreachable();
    const first = new Amount();
    const second = new Amount();
    first.cents = ordered.cents;
    second.cents = 1;
    const booked = new AccountClient(ordered.to).book(first);
    const fee = new AccountClient("fees").book(second);
    return booked.isOk && fee.isOk ? this.done() : this.retry(booked.message, 100);
  }
}
register<Ledger>();
`;

const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
const module = join(folder, 'bank.wasm');
const fromNow = join(folder, 'from-now.wasm');
const without = join(folder, 'without.wasm');

beforeAll(async () => {
  for (const [file, consumers] of [
    [module, ledger('beginning')],
    [fromNow, ledger('now')],
    [without, ''],
  ] as const) {
    const entryFile = join(folder, 'index.ts');
    writeFileSync(entryFile, bank(consumers));
    writeFileSync(file, (await buildComponent({ entryFile })).component);
  }
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

async function serve(
  data: string,
  file = module,
  attemptsMax = 100_000,
): Promise<{ readonly url: string; readonly service: SvcProcess }> {
  const attempts = ['--set', `svc.consumers.attempts-max=${attemptsMax}`];
  const words = ['run', file, '--port', '0', '--data', data, '--shards', '2', ...attempts];
  const service = new SvcProcess(words);
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return { url: await service.listening(), service };
}

async function order(url: string, id: string, to: string, cents = 1): Promise<void> {
  const response = await fetch(`${url}/transfers/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to, cents }),
  });
  expect(response.status).toBe(204);
}

async function account(url: string, id: string): Promise<{ cents: number; bookings: number }> {
  return (await (await fetch(`${url}/accounts/${id}`)).json()) as never;
}
const metrics = async (at: string) => (await fetch(`${at}/svc/metrics`)).text();
const bookings = async (url: string, id: string) => (await account(url, id)).bookings;

const TRANSFERS = Array.from({ length: 12 }, (_, index) => `t${index}`);
const ACCOUNTS = Array.from({ length: 5 }, (_, index) => `a${index}`);
const SOON = { timeout: 30_000 };

test('each event is handled once in effect, in whichever shards its entity and the called ones are', async () => {
  const { url, service } = await serve(join(temporaryFolder(), 'data'));
  for (const to of ACCOUNTS) for (const id of TRANSFERS) await order(url, id, to, 2);
  const all = ACCOUNTS.length * TRANSFERS.length;
  await expect.poll(() => bookings(url, 'fees'), SOON).toBe(all);
  for (const to of ACCOUNTS)
    expect(await account(url, to)).toEqual({ cents: 2 * TRANSFERS.length, bookings: 12 });
  const { code } = await service.end('SIGTERM');
  expect(code).toBe(0);
});

test('a service that is killed again and again handles each event once in effect', async () => {
  const data = join(temporaryFolder(), 'data');
  let ordered = 0;
  for (let life = 0; life < 4; life++) {
    const { url, service } = await serve(data);
    for (const to of ACCOUNTS)
      await Promise.all(TRANSFERS.map((id) => order(url, `${id}-${life}`, to)));
    ordered += ACCOUNTS.length * TRANSFERS.length;
    await service.end('SIGKILL');
  }
  const { url } = await serve(data);
  await expect.poll(() => bookings(url, 'fees'), SOON).toBe(ordered);
  for (const to of ACCOUNTS) expect(await bookings(url, to)).toBe(4 * TRANSFERS.length);
  // An event that is ordered later is handled, so what would be handled twice has been by now.
  await order(url, 'later', 'last');
  await expect.poll(() => bookings(url, 'last'), SOON).toBe(1);
  expect(await bookings(url, 'fees')).toBe(ordered + 1);
});

test('an event that faults holds up its entity only, and is counted as parked, also after a restart', async () => {
  const data = join(temporaryFolder(), 'data');
  const { svc, management } = await startDeployed(module, data);
  const url = await svc.listening();
  await order(url, 'poison', 'a');
  await order(url, 'poison', 'a');
  await order(url, 'good', 'b');
  await expect.poll(() => bookings(url, 'b'), SOON).toBe(1);
  expect(await bookings(url, 'a')).toBe(0);
  const parked = '\nsvc_consumer_lanes{consumer="ledger",state="parked"} 1\n';
  await expect.poll(() => metrics(management), SOON).toContain(parked);
  await expect
    .poll(() => metrics(management), SOON)
    .toContain('\nsvc_consumer_lag_records{consumer="ledger"} 0\n');
  await svc.end('SIGTERM');
  const again = await startDeployed(module, data);
  await again.svc.listening();
  await expect.poll(() => metrics(again.management), SOON).toContain(parked);
});

test('a retry makes the call again that was refused, and no call that was answered', async () => {
  const { url } = await serve(join(temporaryFolder(), 'data'));
  // It is refused until there is enough money, while its fee is booked once.
  await order(url, 'debt', 'poor', -5);
  await expect.poll(() => bookings(url, 'fees'), SOON).toBe(1);
  await order(url, 'income', 'poor', 10);
  await expect.poll(() => account(url, 'poor'), SOON).toEqual({ cents: 5, bookings: 2 });
  expect(await bookings(url, 'fees')).toBe(2);
});

test("an event that refusals have parked is handled after an operator's retry, once its cause is gone", async () => {
  const data = join(temporaryFolder(), 'data');
  const { url } = await serve(data, module, 2);
  await order(url, 'debt', 'poor', -5);
  const lanes = async () => {
    const { stdout } = await runSvc(['consumers', data, 'ledger', '--state', 'parked']);
    return stdout;
  };
  await expect.poll(lanes, SOON).toContain('no debts');
  await order(url, 'income', 'poor', 10);
  await expect.poll(async () => (await account(url, 'poor')).cents, SOON).toBe(10);
  const retried = await runSvc(['consumers', 'retry', data, 'ledger', 'transfer/debt']);
  expect(retried.code).toBe(0);
  await expect.poll(() => account(url, 'poor'), SOON).toEqual({ cents: 5, bookings: 2 });
  await expect.poll(lanes, SOON).not.toContain('no debts');
  expect(await bookings(url, 'fees')).toBe(2);
});

test("a consumer that starts 'now' gets no event of before, and one that comes back continues", async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serve(data, without);
  await order(first.url, 't', 'a');
  await first.service.end('SIGTERM');
  const second = await serve(data, fromNow);
  await order(second.url, 't', 'a');
  await expect.poll(() => bookings(second.url, 'a'), SOON).toBe(1);
  await second.service.end('SIGTERM');
  const third = await serve(data, without);
  await order(third.url, 't', 'a');
  await third.service.end('SIGTERM');
  const fourth = await serve(data);
  await expect.poll(() => bookings(fourth.url, 'a'), SOON).toBe(2);
});
