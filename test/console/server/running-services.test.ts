// The services that the console lists: those that have registered and answer with the registered identity.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { observabilityShapes } from '../../../contract/observability-schema.ts';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { ServiceList } from '@svc/contract';
import { ConsoleUnderTest } from '../support/console-under-test.ts';
import { StandInService } from '../support/stand-in-service.ts';

async function listOf(served: ConsoleUnderTest): Promise<ServiceList> {
  return (await served.ask('/api/services')).json as ServiceList;
}

/** Sets the clock forward by this much for the next steps. */
function laterBy(ms: number): void {
  vi.restoreAllMocks();
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ms);
}
afterEach(() => {
  vi.restoreAllMocks();
});

test('the stand-in describes itself as the contract says', async () => {
  const { folder } = await ConsoleUnderTest.start();
  const description = (await StandInService.start({ folder })).description();
  const schema = Type.Module({ ...observabilityShapes })['ServiceDescription']!;
  expect(Value.Check(schema, description)).toBe(true);
  expect(Value.Check(schema, { ...description, more: 1 })).toBe(false);
});

test('a service that comes is listed, and one that goes is gone and then leaves', async () => {
  const served = await ConsoleUnderTest.start();
  expect(await listOf(served)).toEqual({
    folder: served.folder,
    services: [],
    unanswered: 0,
    problem: null,
  });
  const service = await StandInService.start({ folder: served.folder });
  const shown = {
    instanceId: service.instanceId,
    name: 'cart',
    pid: service.pid,
    startedAt: '2030-01-02T03:04:05.678Z',
    state: 'running',
    address: service.httpAddress,
    observabilityAddress: service.observabilityAddress,
    problem: null,
  };
  expect((await listOf(served)).services).toEqual([shown]);
  service.stop();
  const ended = { ...shown, state: 'gone', problem: 'It has ended.' };
  expect((await listOf(served)).services).toEqual([ended]);
  laterBy(11_000);
  expect(await listOf(served)).toMatchObject({ services: [], unanswered: 0 });
});

test('a service that was killed is gone once its address does not answer', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  expect((await listOf(served)).services).toMatchObject([{ state: 'running' }]);
  service.kill();
  laterBy(3_000);
  // A service that fails to answer once may be busy.
  expect((await listOf(served)).services).toMatchObject([{ state: 'running' }]);
  laterBy(6_000);
  expect((await listOf(served)).services).toMatchObject([{ state: 'gone' }]);
});

test('files whose address does not answer are not listed, and are counted', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  service.kill();
  expect(await listOf(served)).toMatchObject({ services: [], unanswered: 1 });
});

test("a stale file whose port is another service's is not listed under its name", async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder, name: 'new' });
  const stale = { name: 'old', instanceId: 'ffffffffffffffff', pid: 99 };
  const { observabilityAddress } = service;
  const startedAt = '2030-01-01T00:00:00.000Z';
  writeFileSync(
    join(served.folder, '99.json'),
    JSON.stringify({ ...stale, observabilityAddress, startedAt }),
  );
  expect(await listOf(served)).toMatchObject({ services: [{ name: 'new' }], unanswered: 1 });
});

test.each<[string, string, Record<string, unknown> | string]>([
  ['is half written', '7.json', '{"name":"cart","inst'],
  ['has another name than its process', '7.json', { pid: 8 }],
  ['is no registration', '7.json', '[]'],
  ['is of another kind', 'notes.json', {}],
  ['is being written', '7.json.tmp', {}],
  ['has no name', '7.json', { name: '' }],
  ['has an id that makes another path', '7.json', { instanceId: '../x' }],
  ['has no time', '7.json', { startedAt: 'yesterday' }],
  ['is far too large', '7.json', { more: 'x'.repeat(20_000) }],
])('a file that %s is skipped', async (_what, name, content) => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  rmSync(service.file);
  const good = {
    name: 'cart',
    instanceId: service.instanceId,
    pid: 7,
    observabilityAddress: service.observabilityAddress,
    startedAt: '2030-01-02T03:04:05.678Z',
  };
  const text = typeof content === 'string' ? content : JSON.stringify({ ...good, ...content });
  writeFileSync(join(served.folder, name), text);
  expect(await listOf(served)).toMatchObject({ services: [], unanswered: 0, problem: null });
  writeFileSync(join(served.folder, '7.json'), JSON.stringify(good));
  expect((await listOf(served)).services).toHaveLength(1);
});

test.each([
  'http://192.0.2.1:80',
  'http://example.com:80',
  'https://127.0.0.1:1',
  'http://user@127.0.0.1:1',
  'http://127.0.0.1.example.com:1',
  'http://127.0.0.1:1/path',
  'http://127.0.0.1:1?x',
  'file:///etc/passwd',
  'none',
])('an address that is not loopback is not followed: %s', async (observabilityAddress) => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  service.register({ observabilityAddress });
  expect(await listOf(served)).toMatchObject({ services: [], unanswered: 0 });
  service.register();
  expect((await listOf(served)).services).toHaveLength(1);
});

test('a service that does not answer in time is not called ended', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  expect((await listOf(served)).services).toMatchObject([{ problem: null }]);
  const silent = createServer(() => {});
  onTestFinished(() => void silent.close());
  service.kill();
  const { promise, resolve } = Promise.withResolvers<void>();
  const { port } = new URL(service.observabilityAddress);
  silent.listen(Number(port), '127.0.0.1', resolve);
  await promise;
  laterBy(3_000);
  await expect
    .poll(async () => (await listOf(served)).services, { timeout: 15_000 })
    .toMatchObject([{ state: 'running', problem: 'It did not answer within 2 s.' }]);
});

test('a redirect of a service is not followed', async () => {
  const served = await ConsoleUnderTest.start();
  const other = await StandInService.start({ folder: join(served.folder, 'elsewhere') });
  const service = await StandInService.start({
    folder: served.folder,
    observed: (_heard, response) => {
      response.writeHead(307, { location: `${other.observabilityAddress}/observability/live` });
      response.end();
    },
  });
  const answer = await served.ask(`/api/services/${service.instanceId}/observability/live`);
  expect(answer).toMatchObject({ status: 502, json: { status: 502 } });
  expect(other.heard).toEqual([]);
});

test('a folder that is not there is one without services', async () => {
  const served = await ConsoleUnderTest.start();
  rmSync(served.folder, { recursive: true });
  expect(await listOf(served)).toMatchObject({ services: [], problem: null });
});

test('a folder that cannot be read: it says why', async () => {
  const served = await ConsoleUnderTest.start();
  rmSync(served.folder, { recursive: true });
  writeFileSync(served.folder, '');
  expect(await listOf(served)).toEqual({
    folder: served.folder,
    services: [],
    unanswered: 0,
    problem: 'it is no folder',
  });
});

test('a folder with very many files is read in part, and the list says so', async () => {
  const served = await ConsoleUnderTest.start();
  for (let pid = 1; pid <= 501; pid++) writeFileSync(join(served.folder, `${pid}.json`), '{}');
  const { problem } = await listOf(served);
  expect(problem).toContain('501 files, of which 500 were read');
});

test('a service without an HTTP server has no address', async () => {
  const served = await ConsoleUnderTest.start();
  const described = { instances: [{ address: null, shards: 1 }] };
  await StandInService.start({ folder: served.folder, described });
  expect((await listOf(served)).services).toMatchObject([{ address: null }]);
});

test('a file of a service that has ended is not deleted', async () => {
  const served = await ConsoleUnderTest.start();
  const service = await StandInService.start({ folder: served.folder });
  service.kill();
  await listOf(served);
  expect(existsSync(service.file)).toBe(true);
});
