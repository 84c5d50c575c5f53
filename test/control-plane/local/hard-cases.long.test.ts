// Hard cases with a real control plane whose orchestrator runs services as processes of this machine. Case 17, an orchestrator that is
// down, is none here: it is a part of the control plane.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { compileFixture } from '../../support/compile-fixture.ts';
import { IdentityProvider } from '../../support/identity-provider/identity-provider.ts';
import { addToCounter, isReady, LocalMachine } from '../../support/local-machine.ts';

let provider: IdentityProvider;
let module: Uint8Array;
let machine: LocalMachine;

beforeAll(async () => {
  [provider, module] = await Promise.all([IdentityProvider.start(), compileFixture('counter')]);
}, 120_000);
afterAll(() => provider.stop());
beforeEach(async () => {
  machine = await new LocalMachine(provider).withProject();
  await machine.store('counter', module);
}, 60_000);

const COUNTER = '/services/shop/counter';
const send = async (line: string) => (await machine.svc.send(line, 'ann')).status;

async function history(): Promise<readonly string[]> {
  const { body } = await machine.svc.send(`GET ${COUNTER}/history`, 'ann');
  const entries = body as readonly { readonly kind: string; readonly generation: number }[];
  return entries.map(({ kind, generation }) => `${kind} ${generation}`);
}

interface Logs {
  readonly instances: readonly {
    readonly instance: string;
    readonly output: string;
    readonly error: string | null;
  }[];
}

async function logs(query: string): Promise<Logs['instances']> {
  const { status, body } = await machine.svc.send(`GET ${COUNTER}/logs?${query}`, 'ann');
  expect(status).toBe(200);
  return (body as Logs).instances;
}

test('hard case 16: the status right after an apply is never ready by the former generation', async () => {
  await machine.apply();
  await machine.until(isReady(1));
  for (let generation = 2; generation < 6; generation++) {
    expect(await machine.apply()).toMatchObject({ generation, lifecycle: 'deploying' });
    const { body } = await machine.svc.send(`GET ${COUNTER}`, 'ann');
    expect(body).toMatchObject({ generation, lifecycle: 'deploying' });
  }
  await machine.until(isReady(5));
}, 120_000);

test('hard case 18: a control plane that is killed right after it has answered an apply makes it once after the restart', async () => {
  await machine.apply();
  await machine.killAndStart();
  await machine.until(isReady(1));
  await machine.apply();
  await machine.killAndStart();
  await machine.until(isReady(2));
  await machine.untilOneInstance();
  expect(await history()).toEqual(['applied 2', 'applied 1']);
}, 120_000);

test('hard case 19: an apply right after the deletion of the name waits for the former service, and has its data', async () => {
  await machine.apply();
  await machine.until(isReady(1));
  expect(await addToCounter(machine.url, 3)).toEqual({ value: 3 });
  const [former] = machine.instances();
  expect(await send(`DELETE ${COUNTER}`)).toBe(204);
  const applied = await machine.apply();
  expect(applied.generation).toBeGreaterThan(1);
  await machine.until(isReady(applied.generation));
  await machine.untilOneInstance();
  expect(machine.instances()[0]!.path).not.toBe(former!.path);
  expect(await addToCounter(machine.url, 1)).toEqual({ value: 4 });
}, 120_000);

test('hard case 20: an image that cannot be read leaves the old instance serving and is quoted, and the next apply recovers', async () => {
  await machine.apply();
  await machine.until(isReady(1));
  expect(await addToCounter(machine.url, 3)).toEqual({ value: 3 });
  await machine.apply('nowhere');
  const failed = await machine.until(({ lifecycle }) => lifecycle === 'failed');
  expect(failed).toMatchObject({ generation: 2, readyInstances: 1 });
  expect(failed.detail).toContain('oci:images/nowhere:1');
  expect(await addToCounter(machine.url, 1)).toEqual({ value: 4 });
  await machine.apply();
  await machine.until(isReady(3));
  await machine.untilOneInstance();
  expect(await addToCounter(machine.url, 1)).toEqual({ value: 5 });
}, 120_000);

describe('hard case 21: logs', () => {
  test('of no lines and no seconds are empty, those of another service are not there, and those of a paused one neither', async () => {
    await machine.apply();
    await machine.until(isReady(1));
    const { name } = machine.instances()[0]!.spec;
    const [all] = await logs('');
    expect(all).toMatchObject({ instance: name, error: null });
    expect(all!.output).not.toBe('');
    for (const none of ['tail=0', 'since=0']) expect((await logs(none))[0]!.output).toBe('');
    expect((await logs('previous'))[0]).toMatchObject({
      output: '',
      error: expect.stringContaining('restarted') as string,
    });
    expect(await send(`GET ${COUNTER}/logs?instance=other-1-00000000`)).toBe(404);
    expect(await send(`POST ${COUNTER}/pause`)).toBe(200);
    expect(await send(`GET ${COUNTER}/logs`)).toBe(404);
  }, 120_000);

  test('that cannot be read are an error of their instance, without a path of this machine', async () => {
    await machine.apply();
    await machine.until(isReady(1));
    const [folder] = machine.instances();
    // A folder in the place of a file cannot be read by anybody.
    const file = join(folder!.path, 'stderr');
    rmSync(file);
    mkdirSync(file);
    const [one] = await logs('');
    expect(one).toMatchObject({
      output: '',
      error: expect.stringMatching(/^its output cannot be read/),
    });
    expect(one!.error).not.toContain(machine.cwd);
  }, 120_000);
});
