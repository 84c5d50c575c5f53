// Calls from service to service on one machine, while the called service is replaced.
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { IdentifiedMachine } from '../support/identified-machine.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';

const REPLACEMENTS = 3;
/** Calls that are under way at the same time. */
const CALLERS = 4;
let provider: IdentityProvider;
let calling: Uint8Array;
let machine: IdentifiedMachine;
/** Answers other than 200. */
let failures: string[];
let answered: number;
let longestMs: number;
let ended: AbortController;
let callers: Promise<unknown>;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  calling = await compileFixture('calling');
}, 120_000);
afterAll(() => provider.stop());

beforeEach(async () => {
  machine = await IdentifiedMachine.start(provider);
  await machine.machine.store('calling', calling);
  await Promise.all([machine.deploy('caller', 'calling'), machine.deploy('billing', 'calling')]);
  failures = [];
  answered = 0;
  longestMs = 0;
  ended = new AbortController();
  callers = Promise.all(Array.from({ length: CALLERS }, () => callAlways()));
  callers.catch(() => {});
  onTestFinished(() => ended.abort());
  await until(10);
}, 60_000);

/** Has the caller send the other one a POST, again and again. */
async function callAlways(): Promise<void> {
  const caller = machine.instance('caller');
  const text = JSON.stringify({
    service: 'billing',
    method: 'POST',
    path: '/echo',
    headers: [['content-type', 'text/plain']],
    body: 'a',
    times: 1,
  });
  while (!ended.signal.aborted) {
    const startedMs = performance.now();
    const { body } = await machine.askAsGateway(caller, '/calls/raw', text);
    longestMs = Math.max(longestMs, performance.now() - startedMs);
    const [answer] = JSON.parse(body) as readonly { status: number; body: string }[];
    if (answer!.status === 200) answered++;
    else failures.push(`${answer!.status} ${answer!.body}`);
  }
}

async function until(more: number): Promise<void> {
  const before = answered;
  await expect
    .poll(() => answered, { timeout: 20_000, message: failures.at(-1) ?? 'no call is answered' })
    .toBeGreaterThan(before + more);
}

async function stop(): Promise<void> {
  await until(10);
  ended.abort();
  await callers;
}

test('no call fails while the called service is replaced again and again', async () => {
  for (let count = 0; count < REPLACEMENTS; count++) await machine.deploy('billing', 'calling');
  await stop();
  console.log(`${answered} calls, the longest took ${Math.round(longestMs)} ms`);
  expect(failures).toEqual([]);
}, 120_000);

test('no call fails while the control plane is killed in the middle of a replacement', async () => {
  const { svc } = machine.machine;
  const path = '/services/shop/billing';
  const before = machine.instance('billing').spec.name;
  await svc.send(`POST ${path}/restart`, 'ann');
  await expect
    .poll(() => machine.machine.instances().length, { timeout: 20_000, interval: 5 })
    .toBe(3);
  await machine.machine.killAndStart();
  await expect
    .poll(
      () =>
        machine.machine
          .instances()
          .filter(({ spec }) => spec.key.service === 'billing')
          .map(({ spec }) => spec.name !== before),
      { timeout: 30_000 },
    )
    .toEqual([true]);
  await stop();
  expect(failures).toEqual([]);
}, 120_000);
