// A module that keeps its thread busy for longer than the supervisor allows: the thread is ended and
// another started, the log says so, and the entities come back from the journal.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { observedProcess } from '../support/observed-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'faulty.wasm');

beforeAll(async () => writeFileSync(module, await compileFixture('faulty')));

async function serve(data: string, ...settings: readonly string[]) {
  const svc = new SvcProcess([
    'run',
    module,
    '--port',
    '0',
    '--data',
    join(folder, data),
    '--log',
    'json',
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  return { svc, url: await svc.listening() };
}

const linesOf = ({ stderr }: SvcProcess): Record<string, unknown>[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Asks until there is an answer: in between a connection may be refused. */
async function untilAnswered(url: string, init?: RequestInit): Promise<Response> {
  while (true) {
    try {
      return await fetch(url, init);
    } catch {
      // Nobody listens at the moment.
    }
  }
}

test('a handler that computes for too long costs its thread, and no entity anything', async () => {
  const observed = await observedProcess(folder, [
    module,
    '--data',
    join(folder, 'hangs'),
    // As much as there can be: seconds.
    '--set',
    'svc.wasm.handler-fuel=2000000000',
    '--set',
    'svc.supervisor.heartbeat-ms=20',
    '--set',
    'svc.supervisor.hang-after-ms=200',
    '--set',
    'svc.supervisor.restart-pause-ms=2000',
  ]);
  const { svc, url } = observed;
  const begunAt = new Date().toISOString();
  const count = `${url}/faulty/count/kept/2`;
  expect(await (await fetch(count, { method: 'POST' })).json()).toEqual({ count: 2 });

  // Its connection is cut, as those of all that were in flight.
  await expect(fetch(`${url}/faulty/spin`)).rejects.toThrow('fetch failed');
  // Until the shard is back the main thread answers on its port.
  let answer = await untilAnswered(count, { method: 'POST' });
  expect(answer.status).toBe(503);
  while (answer.status === 503) answer = await untilAnswered(count, { method: 'POST' });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ count: 4 });
  expect(linesOf(svc).filter(({ code }) => code === 'SVC_SHARD_FAILED')).toEqual([
    expect.objectContaining({
      level: 'error',
      message: 'the shard did not answer, was ended, and is started again',
      ends: 1,
      pauseMs: 2000,
    }),
  ]);
  // Whoever looks at the console sees it as well, for as long as the service runs.
  const { faults } = (await observed.get('faults?limit=1', 'FaultList')).body;
  expect(faults).toMatchObject([
    {
      traceId: null,
      component: '',
      handler: '',
      outcome: 'Failed',
      fault: {
        code: 'SVC_SHARD_FAILED',
        reason:
          'shard 0: the shard did not answer, was ended, and is started again: ' +
          'it did not answer for 200 ms (svc.supervisor.hang-after-ms)',
      },
    },
  ]);
  expect(faults[0]!.at >= begunAt && faults[0]!.at <= new Date().toISOString()).toBe(true);
  const { code, stderr } = await svc.end('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).toMatch(/"shard-ends":1,"shard-hangs":1,"message":"limits met since the start"/);
});

test('what met a limit is counted, once each, and told at the end', async () => {
  const { svc, url } = await serve('counted');
  expect((await fetch(`${url}/faulty/entity/a/boom`, { method: 'POST' })).status).toBe(500);
  expect((await fetch(`${url}/faulty/spin`)).status).toBe(504);
  const { stderr } = await svc.end('SIGTERM');
  const told = linesOf(svc).filter(({ message }) => message === 'limits met since the start');
  expect(told).toEqual([
    expect.objectContaining({ 'fault:trap': 1, 'fault:fuel': 1, 'limit:handler-fuel': 1 }),
  ]);
  // What the module said stands there once, though the entity and the request both failed.
  expect(stderr.match(/abort: boom/g)).toHaveLength(1);
});

test('a handler that is not done in time is counted once, though two lines tell of it', async () => {
  const { svc, url } = await serve('late', 'svc.http.answer-timeout-ms=30');
  const late = `${url}/faulty/count-with-calls/a/900`;
  expect((await fetch(late, { method: 'POST' })).status).toBe(504);
  await svc.logged(/"limit":"request-time"/);
  await svc.end('SIGTERM');
  const counts = linesOf(svc).find(({ message }) => message === 'limits met since the start');
  expect(counts).toMatchObject({
    'fault:time': 1,
    'limit:request-time': 1,
    'failure:SVC_ANSWER_TIMED_OUT': 1,
  });
});

test('a request that is one too many has no line, and is counted', async () => {
  const { svc, url } = await serve('overloaded', 'svc.http.requests-in-flight-max=1');
  let turnedDown = 0;
  while (turnedDown === 0) {
    const long = fetch(`${url}/faulty/count-with-calls/a/900`, { method: 'POST' });
    const answers = await Promise.all([long, fetch(`${url}/faulty/ambient`)]);
    turnedDown = answers.filter(({ status }) => status === 503).length;
  }
  await svc.end('SIGTERM');
  const told = linesOf(svc).filter(({ message }) => message === 'limits met since the start');
  expect(told).toEqual([expect.objectContaining({ 'failure:SVC_OVERLOADED': turnedDown })]);
  expect(linesOf(svc).filter(({ level }) => level === 'warn')).toEqual([]);
});

test('a module that floods the log fills no disk: the lines beyond are counted', async () => {
  const { svc, url } = await serve(
    'floods',
    'svc.log.lines-per-second=1',
    'svc.log.burst-seconds=5',
    'svc.supervisor.heartbeat-ms=20',
  );
  for (let line = 0; line < 50; line++) await fetch(`${url}/faulty/log/flood`);
  await svc.logged(/lines were not written/);
  const { stderr } = await svc.end('SIGTERM');
  const floods = linesOf(svc).filter(({ message }) => message === 'flood from local').length;
  expect(floods).toBeGreaterThanOrEqual(5);
  expect(floods).toBeLessThan(50);
  const counts = linesOf(svc).find(({ message }) => message === 'limits met since the start');
  expect(counts).toMatchObject({ 'log-lines-not-written': 50 - floods });
  expect(stderr).toMatch(/"message":"\d+ lines were not written"/);
});

test('lines that were written make room for others', async () => {
  const { svc, url } = await serve(
    'waits',
    'svc.log.waiting-bytes-max=65536',
    'svc.log.lines-per-second=100000',
    'svc.supervisor.heartbeat-ms=20',
  );
  // Twenty times as much as may wait.
  const line = `${url}/faulty/log/${'x'.repeat(8_000)}`;
  while ((svc.stderr.match(/x{8000}/g) ?? []).length < 160)
    expect((await fetch(line)).status).toBe(204);
});

describe('a signal', () => {
  /** As much as there can be: seconds. */
  const HANGS = 'svc.wasm.handler-fuel=2000000000';

  test('while a handler keeps its thread busy ends the host all the same, soon after the grace', async () => {
    for (let said = ''; !said.includes('stopped, and cut what did not finish in time');) {
      const { svc, url } = await serve(
        'stopped-busy',
        HANGS,
        'svc.supervisor.stop-grace-ms=50',
        'svc.supervisor.stop-margin-ms=50',
      );
      const spin = fetch(`${url}/faulty/spin`).catch(() => {});
      // Once it computes, no other request is answered; nor is one where the machine is slow: then once more.
      const asked = () => fetch(`${url}/none`, { signal: AbortSignal.timeout(300) });
      while ((await asked().catch(() => undefined)) !== undefined);
      const { code, stderr } = await svc.end('SIGTERM');
      expect(code).toBe(0);
      said = stderr;
      await spin;
    }
  });

  test('while the module is held back ends the host at once', async () => {
    const { svc, url } = await serve(
      'stopped-held',
      HANGS,
      'svc.supervisor.heartbeat-ms=20',
      'svc.supervisor.hang-after-ms=200',
      'svc.supervisor.restart-pause-ms=1000000',
      'svc.supervisor.restart-pause-max-ms=1000000',
    );
    await expect(fetch(`${url}/faulty/spin`)).rejects.toThrow('fetch failed');
    const held = await untilAnswered(url);
    const retryAfter = Number(held.headers.get('retry-after'));
    expect([held.status, retryAfter > 1, retryAfter <= 1_000]).toEqual([503, true, true]);
    expect(await held.json()).toEqual({
      status: 503,
      error: expect.stringContaining('SVC_SHARD_FAILED'),
    });
    const { code, stderr } = await svc.end('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).toMatch(/"message":"stopped"/);
  });
});
