// A module with a configuration, run by `svc control-plane`: values come from the descriptor, and secrets from files of the operator.
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { isReady, LocalMachine, type ShownStatus } from '../support/local-machine.ts';

const SECRET = 'sk_live_4711_of_shop';
const LITERAL = 'sk_live_0815_in_the_descriptor';
const VALUES = { feePerDay: '0.50', currency: 'SEK', branches: '["North"]' };

const WAIT = { timeout: 30_000, interval: 100 };

let provider: IdentityProvider;
let module: Uint8Array;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  module = await compileFixture('library-fees');
});
afterAll(() => provider.stop());

const hasFailed = ({ lifecycle }: ShownStatus) => lifecycle === 'failed';

function putSecret(machine: LocalMachine, project: string, value: string): void {
  const folder = join(machine.cwd, 'machine', 'secrets', project);
  mkdirSync(folder, { mode: 0o700, recursive: true });
  const next = join(folder, '.next');
  writeFileSync(next, `${value}\n`, { mode: 0o600 });
  renameSync(next, join(folder, 'paymentKey'));
}

/** Everything that the control plane stores itself. */
function stored(machine: LocalMachine): string {
  const folder = join(machine.cwd, 'data');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
    .join('');
}

test('values of the descriptor and a secret of the project reach the module; wrong ones fail the rollout, and the former instance serves', async () => {
  const machine = await new LocalMachine(provider).withProject();
  await machine.store('library', module);
  const apply = (env: object) => machine.apply('library', { env });
  expect(statSync(join(machine.cwd, 'machine', 'secrets')).mode & 0o777).toBe(0o700);

  const env = { PORT: '1', SVC_SERVICES_URL: 'http://a', SVC_DATA: '/', SVC_LOG: 'json', fee: '1' };
  await expect(apply(env)).rejects.toThrow(
    [
      'env/PORT: may not be declared: the platform gives this variable to the process',
      'env/SVC_DATA: may not be declared: of the settings of the runtime, only limits, log and shards can be set',
      'env/SVC_SERVICES_URL: may not be declared: the platform gives this variable to the process',
    ].join('\\n'),
  );

  putSecret(machine, 'bank', 'sk_live_of_another_project');
  await apply(VALUES);
  const missing = await machine.until(hasFailed);
  expect(missing.detail).toContain(
    "SVC_CONFIGURATION_INVALID: The configuration cannot be used: 'paymentKey' is missing: a text. Declare values in env of the service's descriptor. A secret is a file of its name",
  );

  putSecret(machine, 'shop', SECRET);
  const { generation } = await apply(VALUES);
  await machine.until(isReady(generation));
  const terms = async () => (await fetch(`${machine.url}/loans/terms`)).json();
  expect(await terms()).toEqual({ currency: 'SEK', daysFree: 14, branches: ['North'] });
  const ready = machine.instances().find(({ spec }) => spec.generation === generation)!;
  const environment = readFileSync(`/proc/${ready.lastRun!.process!.pid}/environ`, 'latin1');
  expect(environment).toContain('SVC_NAME=counter');
  expect(environment).not.toMatch(/feePerDay|SEK|North/);
  expect(statSync(join(ready.path, 'variables.json')).mode & 0o777).toBe(0o600);

  await apply({ ...VALUES, paymentKey: LITERAL, daysFree: 'many', NODE_OPTIONS: '--import=/evil' });
  const wrong = await machine.until(hasFailed);
  expect(wrong.readyInstances).toBe(1);
  for (const problem of [
    "'paymentKey' is a secret, and may not be declared in env of the descriptor, which the platform stores",
    "'daysFree' is not an integer",
    '"NODE_OPTIONS" is not declared (env of the descriptor)',
  ])
    expect(wrong.detail).toContain(problem);
  expect(wrong.detail).not.toMatch(/many|0815|evil|machine\//);
  expect(await terms()).toMatchObject({ currency: 'SEK' });

  const logs = await machine.svc.send('GET /services/shop/counter/logs', 'ann');
  const history = await machine.svc.send('GET /services/shop/counter/history', 'ann');
  const shown = JSON.stringify([missing, wrong, logs.body, history.body]);
  expect(shown).toContain('SVC_CONFIGURATION_INVALID');
  expect(shown).not.toMatch(/4711|0815|another_project/);
  expect(stored(machine)).not.toContain('4711');
  expect(stored(machine)).toContain('feePerDay');
});

test('a rollout waits for a secret that is empty; one that is replaced is used without another apply, and an instance that is killed starts again with all its values', async () => {
  const machine = await new LocalMachine(provider).withProject();
  await machine.store('library', module);
  putSecret(machine, 'shop', '');
  const { generation } = await machine.apply('library', { env: VALUES });
  const waits = await machine.until(
    ({ detail }) => detail?.includes('SVC_CONFIGURATION_UNREADABLE') === true,
  );
  expect(waits.lifecycle).not.toBe('failed');
  expect(waits.detail).toContain("the file of the secret 'paymentKey' is empty");
  putSecret(machine, 'shop', SECRET);
  await machine.until(isReady(generation));
  const logs = async () =>
    JSON.stringify((await machine.svc.send('GET /services/shop/counter/logs', 'ann')).body);

  putSecret(machine, 'shop', 'short');
  await vi.waitUntil(
    async () => (await logs()).includes('the changed configuration cannot be'),
    WAIT,
  );
  expect(await logs()).toContain("'paymentKey'");
  putSecret(machine, 'shop', 'sk_live_4712_of_shop');
  await vi.waitUntil(async () => (await logs()).includes('a new configuration is in use'), WAIT);
  expect(await logs()).not.toMatch(/471[12]/);

  const pidOf = () => machine.instances()[0]?.lastRun?.process?.pid;
  const before = pidOf()!;
  process.kill(before, 'SIGKILL');
  await vi.waitUntil(() => pidOf() !== undefined && pidOf() !== before, WAIT);
  await machine.until(isReady(generation));
  const terms = await (await fetch(`${machine.url}/loans/terms`)).json();
  expect(terms).toEqual({ currency: 'SEK', daysFree: 14, branches: ['North'] });
});
