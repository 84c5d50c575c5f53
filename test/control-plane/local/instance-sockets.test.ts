// Sockets of instances: a process in another network namespace is reached by them, and nothing is left of those that are not used.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import {
  type AddressInfo,
  BoundSocket,
  connect,
  createServer,
  type NetConnectOpts,
} from 'node:net';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { socketVariables } from '@svc/kit/listening-sockets';
import {
  InstanceSockets,
  makeSocketsFolder,
  removeCallSocket,
  sweepSockets,
} from '../../../control-plane/local/instance-sockets.ts';
import { callSocketFile, projectSocketsFolder } from '../../../kit/call-sockets.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { CART, running } from './cart.ts';
import { IMAGES, MachineUnderTest } from './machine-under-test.ts';
import { until } from './until.ts';

const PROGRAM = join(import.meta.dirname, 'socket-program.ts');
const NAMESPACE = ['--user', '--map-root-user', '--net', '--pid', '--fork'];
const NAMES = { http: 'http', management: 'management', calls: 'calls' };
const isLinux = process.platform === 'linux';
const hasNamespaces = isLinux && spawnSync('unshare', [...NAMESPACE, 'true']).status === 0;
if (!isLinux) console.log('Skipped: sockets of instances are for the namespaces of Linux.');
else if (!hasNamespaces)
  console.log('Skipped: this user may make no network namespaces here (unshare --user --net).');

/** An address of the loopback network with ports that are free. */
function freeAddress() {
  const address = '127.85.1.1';
  const sockets = [0, 0].map((port) => new BoundSocket({ host: address, port }));
  const [http, management] = sockets.map((socket) => socket.address().port);
  for (const socket of sockets) socket.close();
  return { key: CART, address, ports: { http: http!, management: management!, remoting: 17_355 } };
}

/** What a peer answers, or the code of the error. */
async function answerAt(to: NetConnectOpts): Promise<string> {
  const socket = connect(to);
  try {
    return (await socket.setEncoding('utf8').toArray()).join('');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code!;
  }
}

const at = (port: number) => ({
  key: CART,
  address: '127.85.1.1',
  ports: { http: port, management: 1, remoting: 2 },
});

function namesOf(...given: Parameters<typeof InstanceSockets.open>): readonly string[] {
  using sockets = InstanceSockets.open(...given);
  expect(sockets.fds).toHaveLength(sockets.names.length);
  return sockets.names;
}

describe.runIf(isLinux)('the sockets of an instance', () => {
  test.runIf(hasNamespaces)(
    'are served by a process in a network of its own, and refuse connections before',
    async () => {
      const folder = makeSocketsFolder(temporaryFolder())!;
      const owner = freeAddress();
      const { address, ports } = owner;
      const targets = [
        { host: address, port: ports.http },
        { host: address, port: ports.management },
        { path: callSocketFile(folder, CART.project, { host: address, port: ports.http }) },
      ];
      const refused = ['ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED'];
      let child;
      {
        using sockets = InstanceSockets.open(folder, owner, NAMES);
        expect(await Promise.all(targets.map(answerAt))).toEqual(refused);
        // As a launcher does: the process in which the program runs has another id there than here.
        const launcher = ['sh', '-c', 'export LISTEN_PID=$$; exec "$@"', 'sh'];
        const program = [process.execPath, PROGRAM, address, String(ports.management)];
        child = spawn('unshare', [...NAMESPACE, '--kill-child', ...launcher, ...program], {
          stdio: ['ignore', 'pipe', 'inherit', ...sockets.fds],
          env: { ...process.env, ...socketVariables(sockets.names, process.pid) },
        });
      }
      const ended = once(child, 'exit');
      onTestFinished(() => void child.kill('SIGKILL'));
      const [line] = (await once(child.stdout!, 'data')) as [Buffer];
      expect(line.toString()).toBe('listening 3\n');
      expect(await Promise.all(targets.map(answerAt))).toEqual([
        'http not reached',
        'management not reached',
        'calls not reached',
      ]);
      child.kill('SIGKILL');
      await ended;
      await until(async () => (await answerAt(targets[2]!)) === 'ECONNREFUSED');
      expect(await Promise.all(targets.map(answerAt))).toEqual(refused);
    },
  );

  test('are those that it takes, and without requests there is none for calls', () => {
    const folder = makeSocketsFolder(temporaryFolder());
    const { ports, ...owner } = freeAddress();
    expect(namesOf(folder, { ...owner, ports }, { calls: 'called' })).toEqual(['called']);
    expect(namesOf(undefined, { ...owner, ports }, NAMES)).toEqual(['http', 'management']);
    const { http: _none, ...others } = ports;
    expect(namesOf(folder, { ...owner, ports: others }, NAMES)).toEqual(['management']);
  });

  test('are not opened where another program listens, which is named, and nothing is left of them', async () => {
    const folder = makeSocketsFolder(temporaryFolder())!;
    const stranger = createServer().listen(0, '0.0.0.0');
    await once(stranger, 'listening');
    const { port: management } = stranger.address() as AddressInfo;
    const free = freeAddress();
    const owner = { ...free, ports: { ...free.ports, management } };
    const { address, ports } = owner;
    onTestFinished(() => void stranger.close());
    expect(() => InstanceSockets.open(folder, owner, NAMES)).toThrow(
      expect.objectContaining({
        code: 'SVC_PORT_IN_USE',
        message: expect.stringContaining(
          `Port ${ports.management} of ${address} cannot be had: the process ${process.pid} (`,
        ),
      }),
    );
    expect(readdirSync(folder)).toEqual([]);
    expect(() => InstanceSockets.open(folder, { ...owner, address: '192.0.2.1' }, NAMES)).toThrow(
      expect.objectContaining({ code: 'SVC_ADDRESS_UNAVAILABLE' }),
    );
  });

  test('say nothing of the folder if the one for calls cannot be opened', () => {
    const folder = join(temporaryFolder(), 'gone');
    expect(() => InstanceSockets.open(folder, freeAddress(), NAMES)).toThrow(
      expect.objectContaining({
        code: 'SVC_ADDRESS_UNAVAILABLE',
        message: expect.not.stringContaining(folder),
      }),
    );
  });
});

describe.runIf(isLinux)('the file of a socket for calls', () => {
  test('is for this user alone, and a new run replaces it', () => {
    const machine = temporaryFolder();
    const folder = makeSocketsFolder(machine)!;
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const ofProject = projectSocketsFolder(folder, CART.project);
    const file = join(ofProject, '127.85.1.1-9000.sock');
    const inodes = [1, 2].map(() => {
      using _sockets = InstanceSockets.open(folder, at(9000), { calls: 'calls' });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      return statSync(file).ino;
    });
    expect(new Set(inodes).size).toBe(2);
    expect(makeSocketsFolder(machine)).toBe(folder);
    expect(readdirSync(ofProject)).toEqual(['127.85.1.1-9000.sock']);
    removeCallSocket(folder, at(9000));
    expect(readdirSync(ofProject)).toEqual([]);
  });

  test('is swept once its instance is gone, and nothing else is', () => {
    const folder = makeSocketsFolder(temporaryFolder())!;
    const [own, other] = [CART.project, 'bank'].map((project) =>
      projectSocketsFolder(folder, project),
    );
    for (const project of [own!, other!]) {
      mkdirSync(project);
      for (const name of ['127.85.1.1-9000.sock', '127.85.1.1-9001.sock'])
        writeFileSync(join(project, name), '');
    }
    writeFileSync(join(own!, 'a.sock'), '');
    writeFileSync(join(folder, 'new.sock'), '');
    sweepSockets(folder, [at(9000)]);
    expect(readdirSync(folder)).toEqual([basename(own!)]);
    expect(readdirSync(own!).toSorted()).toEqual(['127.85.1.1-9000.sock', 'a.sock']);
  });

  test('has no folder where the path of a socket would be too long', () => {
    const deep = join(temporaryFolder(), 'x'.repeat(80));
    mkdirSync(deep);
    expect(makeSocketsFolder(deep)).toBeUndefined();
    expect(readdirSync(deep)).toEqual([]);
  });

  test('exists while there is an instance on a machine, and what a killed control plane left goes at the start', async () => {
    const machine = new MachineUnderTest({ hasDataFolder: true });
    onTestFinished(() => machine.discard());
    await running(machine, IMAGES.good, 1);
    const { address, ports } = machine.instances()[0]!.spec;
    const folder = projectSocketsFolder(join(machine.folder, 'sockets'), CART.project);
    const own = `${address}-${ports.http}.sock`;
    expect(readdirSync(folder)).toEqual([own]);
    writeFileSync(join(folder, '127.84.9.9-9000.sock'), '');
    await machine.restart();
    expect(readdirSync(folder)).toEqual([own]);
    await machine.orchestrator.reconcile({ kind: 'removed', key: CART });
    await until(async () => (await machine.orchestrator.observe(CART)).kind === 'none');
    expect(readdirSync(folder)).toEqual([]);
  });
});
