// svc up and svc down: an installation on one machine with real commands, from the first start until nothing is left.
import { existsSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { InstanceFolder } from '../../control-plane/local/instance-folder.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { OneMachine, runs } from '../support/one-machine.ts';

let module: Uint8Array;
beforeAll(async () => {
  module = await compileFixture('counter');
}, 120_000);

const WAIT = { timeout: 60_000, interval: 50 };

function instancesOf({ folder }: OneMachine) {
  const all = InstanceFolder.readAll(join(folder, 'machine', 'instances'));
  return all.flatMap(({ lastRun }) => lastRun?.process ?? []);
}

async function deployCounter(machine: OneMachine): Promise<void> {
  writeFileSync(join(machine.cwd, 'counter.wasm'), module);
  writeFileSync(
    join(machine.cwd, 'service.yaml'),
    'name: counter\nimage: oci:images/counter\nhosting: wasm\nprotocol: 0.2.0\n',
  );
  await machine.svc('org create acme');
  await machine.svc('project create shop --organization acme');
  await machine.svc(`image build counter.wasm -o ${join(machine.folder, 'images', 'counter')}`);
  await machine.svc('service apply -f service.yaml --project shop');
  await machine.svc('service expose counter --project shop');
  await vi.waitUntil(
    async () => (await machine.send('counter', '/counters/a')).status === 200,
    WAIT,
  );
}

const increment = (machine: OneMachine) =>
  machine.send('counter', '/counters/a', '{"amount":1}').then(({ body }) => JSON.parse(body));

test('an installation is started, used, and stopped with everything, and starts again with its data', async () => {
  const machine = await OneMachine.make();
  const said = await machine.upInBackground();
  const [port] = machine.ports;
  expect(said).toContain(`https://api.svc.localhost:${port}`);
  expect(said).toContain(join(machine.folder, 'machine', 'ca.pem'));
  expect(said).toContain('svc login');
  expect(await machine.svc('context list')).toContain(`https://api.svc.localhost:${port}`);
  await deployCounter(machine);
  expect(await increment(machine)).toMatchObject({ value: 1 });

  const { owner } = machine.owner();
  const second = await machine.run(machine.upWords().join(' '));
  expect([second.code, second.stderr]).toEqual([
    1,
    expect.stringMatching(new RegExp(`process ${owner.pid} already.*SVC_MACHINE_IN_USE`)),
  ]);

  // The login provider asks for no password, so the gateway does not lead to it.
  expect((await machine.sendTo('login', '/')).status).toBe(404);
  const programs = Object.values(machine.owner().programs);
  const instances = instancesOf(machine);
  expect([programs.length, instances.length]).toEqual([4, 1]);
  expect(await machine.svc('down')).not.toHaveLength(0);
  expect([owner, ...programs, ...instances].filter(runs)).toEqual([]);

  await machine.upInBackground();
  await vi.waitUntil(
    async () => (await machine.send('counter', '/counters/a')).status === 200,
    WAIT,
  );
  expect(await increment(machine)).toMatchObject({ value: 2 });
}, 240_000);

test('each program that is killed comes back, and services outlive all of them and the command itself', async () => {
  const machine = await OneMachine.make();
  await machine.upInBackground();
  await deployCounter(machine);
  const [instance] = instancesOf(machine);
  for (const name of ['gateway', 'control-plane', 'registry', 'login-provider']) {
    const before = machine.owner().programs[name]!;
    process.kill(before.pid, 'SIGKILL');
    await vi.waitUntil(() => {
      const { [name]: now } = machine.owner().programs;
      return now !== undefined && now.pid !== before.pid;
    }, WAIT);
  }
  await vi.waitUntil(async () => (await machine.run('auth')).code === 0, WAIT);
  await vi.waitUntil(
    () =>
      increment(machine).then(
        ({ value }) => value === 1,
        () => false,
      ),
    WAIT,
  );

  const { owner, programs } = machine.owner();
  process.kill(owner.pid, 'SIGKILL');
  await machine.upInBackground();
  expect(Object.values(programs).filter(runs)).toEqual([]);
  expect(instancesOf(machine)).toEqual([instance]);
  expect(await increment(machine)).toMatchObject({ value: 2 });
}, 240_000);

test('connections that arrive while the gateway is killed and started again are answered', async () => {
  const machine = await OneMachine.make();
  await machine.upInBackground();
  const killed: number[] = [];
  for (let count = 0; count < 3; count++) {
    const { pid, ...start } = machine.owner().programs['gateway']!;
    process.kill(pid, 'SIGKILL');
    await vi.waitUntil(() => !runs({ pid, ...start }), { ...WAIT, interval: 1 });
    const answers = Promise.all(Array.from({ length: 20 }, () => machine.sendTo('api', '/auth')));
    const now = machine.owner().programs['gateway']?.pid;
    expect([undefined, pid]).toContain(now);
    expect(new Set((await answers).map(({ status }) => status))).toEqual(new Set([200]));
    killed.push(pid);
  }
  expect(new Set(killed).size).toBe(3);
}, 120_000);

test('a request without TLS is sent to the same URL with TLS, at the port of the gateway', async () => {
  const machine = await OneMachine.make();
  const [port, , , , http] = machine.ports;
  expect(await machine.upInBackground()).toContain(`port ${http}, to the same URL with https`);
  const host = 'cart-shop.svc.localhost';
  const options = { host: '127.0.0.1', port: http, path: '/a?b', headers: { host } };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(options, resolve).on('error', reject);
  });
  answer.resume();
  expect([answer.statusCode, answer.headers.location]).toEqual([
    308,
    `https://${host}:${port}/a?b`,
  ]);

  expect(await machine.svc('down')).toContain('Stopped');
  const none = machine.start('--http-port', '0');
  await none.logged(/The installation runs/);
  expect(none.stderr).not.toContain('with https');
  await expect(
    new Promise((resolve, reject) => get(options, resolve).on('error', reject)),
  ).rejects.toMatchObject({ code: 'ECONNREFUSED' });
}, 120_000);

test('ctrl-c in the terminal of svc up stops everything, and SIGTERM leaves the services', async () => {
  const machine = await OneMachine.make();
  const first = machine.start();
  await first.logged(/Next: svc login/);
  await deployCounter(machine);
  const [instance] = instancesOf(machine);
  expect((await first.end('SIGTERM')).code).toBe(0);
  expect(runs(instance!)).toBe(true);
  const second = machine.start();
  await second.logged(/The installation runs/);
  expect((await second.end('SIGINT')).code).toBe(0);
  expect(second.stderr).toContain('Stopped, with 1 instance of services.');
  expect(runs(instance!)).toBe(false);
}, 240_000);

test('a port that is taken is named before anything starts', async () => {
  const machine = await OneMachine.make();
  const [, , login] = machine.ports;
  const stranger = createServer().listen(login, '127.0.0.1');
  await new Promise((listening) => stranger.once('listening', listening));
  const { code, stderr } = await machine.start().ended;
  stranger.close();
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(`Port ${login} .*login provider.*--login-port.*SVC_PORT_IN_USE`),
    ),
  ]);
  expect(existsSync(join(machine.folder, 'control-plane'))).toBe(false);
}, 60_000);
