// A registration file may name the address of any program on this machine: the requests that it gets, and the
// responses that the console tolerates.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConsoleUnderTest } from '../support/console-under-test.ts';
import { StandInService } from '../support/stand-in-service.ts';

const NOT_ON_WINDOWS = 'Windows has no links and pipes of this kind';

const INSTANCE_ID = 'ffffffffffffffff';
const PID = 7;

/** Registers the program as a service; its responses decide whether it is one. */
async function registered(served: ConsoleUnderTest, program: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  program.listen(0, '127.0.0.1', resolve);
  onTestFinished(() => void program.close());
  await promise;
  const { port } = program.address() as AddressInfo;
  const registration = {
    name: 'cart',
    instanceId: INSTANCE_ID,
    pid: PID,
    observabilityAddress: `http://127.0.0.1:${port}`,
    startedAt: '2030-01-01T00:00:00.000Z',
  };
  writeFileSync(join(served.folder, `${PID}.json`), JSON.stringify(registration));
}

describe('a program that is no service', () => {
  test.each(['traces', 'service/../../secret', 'query/a/b/c'])(
    'is asked who it is, and for nothing else: %s',
    async (shown) => {
      const served = await ConsoleUnderTest.start();
      const heard: unknown[] = [];
      const program = createServer(({ url }, response) => {
        heard.push(url);
        response.end('{"secret":1}');
      });
      await registered(served, program);
      const path = `/api/services/${INSTANCE_ID}/observability/${shown}`;
      expect(await served.ask(path)).toMatchObject({ status: 502, json: { status: 502 } });
      expect(await served.ask(path)).toMatchObject({ status: 502 });
      const called = await served.call(INSTANCE_ID, { path: '/secret' });
      expect(called).toMatchObject({ status: 502 });
      expect(new Set(heard)).toEqual(new Set(['/observability/service']));
    },
  );

  test.each([
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x'],
    ['a bare 101', 'HTTP/1.1 101 Switching Protocols'],
    ['no HTTP', 'SSH-2.0-OpenSSH'],
    ['half an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 100'],
    ['endless headers', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`],
  ])('that speaks %s is not listed, and holds up nobody', async (_what, words) => {
    const served = await ConsoleUnderTest.start();
    const program = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(`${words}\r\n\r\n`));
    });
    await registered(served, program);
    const path = `/api/services/${INSTANCE_ID}/observability/live`;
    expect(await served.ask(path)).toMatchObject({ status: 502 });
    expect((await served.ask('/api/services')).json).toMatchObject({ services: [], unanswered: 1 });
    expect(served.bugs).toEqual([]);
  });
});

test.each<[string, object]>([
  ['instances that are none', { instances: [null], routes: [] }],
  ['an address that is none', { instances: [{ address: { host: 'x' } }], routes: [] }],
  ['routes that are none', { instances: [], routes: [null] }],
  ['a route without a path', { instances: [], routes: [{ method: 'GET' }] }],
  ['no lists', { instances: {}, routes: { length: 1 } }],
])('a program that describes itself with %s is not listed, and others are', async (_what, said) => {
  const served = await ConsoleUnderTest.start();
  const program = createServer((_request, response) => {
    response.end(JSON.stringify({ instanceId: INSTANCE_ID, ...said }));
  });
  await registered(served, program);
  await StandInService.start({ folder: served.folder, name: 'till' });
  expect((await served.ask('/api/services')).json).toMatchObject({
    services: [{ name: 'till' }],
    unanswered: 1,
  });
  expect(await served.call(INSTANCE_ID, { path: '/' })).toMatchObject({ status: 502 });
  expect(served.bugs).toEqual([]);
});

test('a service that goes on in another protocol has broken the connection', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({
    folder: served.folder,
    http: (_heard, response) => {
      response.socket!.end(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      );
    },
  });
  const got = await served.call(service.instanceId, { path: '/' });
  expect(got).toMatchObject({ status: 502 });
  expect(got.text).toContain('another protocol');
});

test('a service whose id is a word of the path is asked for what it shows', async () => {
  const served = await ConsoleUnderTest.start();
  const instanceId = 'observability';
  const service = await StandInService.start({ folder: served.folder, instanceId });
  await served.ask(`/api/services/${instanceId}/observability/live?a=/observability/b`);
  expect(service.heard.at(-1)).toMatchObject({ url: '/observability/live?a=/observability/b' });
});

test('a pipe in the folder is not read', async (context) => {
  context.skip(process.platform === 'win32', NOT_ON_WINDOWS);
  const served = await ConsoleUnderTest.start();
  expect(spawnSync('mkfifo', [join(served.folder, `${PID}.json`)]).status).toBe(0);
  expect((await served.ask('/api/services')).json).toMatchObject({ services: [], problem: null });
});
