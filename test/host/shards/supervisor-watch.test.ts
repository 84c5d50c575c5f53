// Supervisor with threads that hang, take too much memory or leave their port: it terminates them, logs it, and
// answers callers meanwhile.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { MessageChannel } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ADMIT, connectionOf, failsWith, LISTEN, supervise } from '../../support/acting-service.ts';

const HUNG = 'the shard did not answer, was ended, and is started again';
/** Only in its first thread, whose port is not yet known. */
const atFirst = (program: string) => `if (settings.address.port === 0) { ${program} }`;
/** Listens for real, on any port or on the one that it had before. */
const LISTEN_TRULY = `
  const stop = told('stop');
  const { createServer } = await import('node:net');
  const server = createServer((socket) => socket.end('the shard')).listen(settings.address);
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  tell({ kind: 'log', entry: { level: 'info', message: 'listens on ' + port } });
  tell({ kind: 'listening', address: { host: '127.0.0.1', port } });`;

afterEach(() => void vi.useRealTimers());

describe('a shard that does not answer', () => {
  test.each([
    ['because it computes without end', 'while (true);'],
    ['because it never lets the event loop turn', 'while (true) await undefined;'],
    ['though its event loop turns', 'settings.isDumb = true; await stop;'],
  ])('%s is ended and started again, and the log says so', async (_why, program) => {
    const { supervisor, logs, log, restarts } = supervise(
      `${ADMIT}${LISTEN} ${atFirst(program)} await stop; tell({ kind: 'stopped' });`,
      { limits: { heartbeatMs: 10, hangAfterMs: 400, restartPauseMs: 1 } },
    );
    await supervisor.start();
    await logs('asked for port 4711', 1);
    expect(await supervisor.stop()).toBe(true);
    expect(log.filter(({ message }) => message === HUNG)).toHaveLength(1);
    expect(restarts()[0]!.fields).toMatchObject({
      code: 'SVC_SHARD_FAILED',
      reason: 'it did not answer for 400 ms (svc.supervisor.hang-after-ms)',
      ends: 1,
      pauseMs: 1,
    });
    expect(supervisor.counters.read()).toMatchObject({ 'shard-hangs': 1, 'shard-ends': 1 });
    expect(supervisor.ends).toEqual([
      {
        atMs: expect.any(Number) as number,
        shard: 0,
        reason: `${HUNG}: it did not answer for 400 ms (svc.supervisor.hang-after-ms)`,
      },
    ]);
  });

  test('is another than one that does: that one is left alone', async () => {
    const { supervisor, logs, restarts } = supervise(
      `${ADMIT}${LISTEN}
       let beats = 0;
       const { parentPort } = await import('node:worker_threads');
       parentPort.on('message', ({ kind }) => {
         if (kind === 'are-you-alive' && ++beats === 30)
           tell({ kind: 'log', entry: { level: 'info', message: 'thirty times' } });
       });
       await stop; tell({ kind: 'stopped' });`,
      { limits: { heartbeatMs: 10, hangAfterMs: 3_000 } },
    );
    await supervisor.start();
    await logs('thirty times', 1);
    expect(await supervisor.stop()).toBe(true);
    expect(restarts()).toEqual([]);
  });

  test('while it is asked to stop does not keep the host from stopping', async () => {
    const { supervisor } = supervise(`${ADMIT}${LISTEN} await stop; while (true);`, {
      limits: { heartbeatMs: 10, hangAfterMs: 100, stopGraceMs: 1_000_000 },
    });
    await supervisor.start();
    expect(await supervisor.stop()).toBe(false);
  });
});

describe('a shard that is not ready in time', () => {
  const SPIN = `tell({ kind: 'log', entry: { level: 'info', message: 'spins' } }); while (true);`;

  // Starting threads takes its own time.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

  test.each([
    ['to start its module', SPIN],
    ['to listen', `${ADMIT} ${SPIN}`],
  ])('%s is ended, and the start fails', async (what, program) => {
    const { supervisor, logs } = supervise(program, { limits: { startTimeoutMs: 2_000 } });
    const failed = failsWith(supervisor.start());
    await logs('spins', 1);
    vi.advanceTimersByTime(2_000);
    expect(await failed).toMatchObject({
      code: 'SVC_SHARD_FAILED',
      message: expect.stringContaining(`it took longer than 2000 ms ${what}`),
    });
  });

  test('when it is started again is tried again', async () => {
    const { supervisor, logs, restarts } = supervise(
      `if (settings.address.port !== 0) { ${SPIN} }
       ${ADMIT}${LISTEN} process.exit(1);`,
      { limits: { startTimeoutMs: 2_000, restartPauseMs: 1 } },
    );
    await supervisor.start();
    await logs('the shard ended by itself and is started again', 1);
    vi.advanceTimersByTime(1);
    await logs('spins', 1);
    vi.advanceTimersByTime(2_000);
    await logs('the shard could not be started and is tried again', 1);
    expect(restarts()[1]!.fields?.['reason']).toMatch(/it took longer than 2000 ms/);
  });
});

test('a shard whose start fails is ended before the next one is started', async () => {
  // Each thread reports as long as it lives, and the second one cannot get the journal.
  let connects = 0;
  const { supervisor, logs, log } = supervise(
    `const { threadId } = await import('node:worker_threads');
     setInterval(() => tell({ kind: 'log', entry: { level: 'info', message: 'lives ' + threadId } }), 1);
     ${ADMIT}${LISTEN} ${atFirst('process.exit(1);')} await stop; tell({ kind: 'stopped' });`,
    {
      limits: { restartPauseMs: 1 },
      connect: async () => {
        if (++connects === 2) throw new Error('no journal');
        return connectionOf(new MessageChannel().port1);
      },
    },
  );
  await supervisor.start();
  await logs('asked for port 4711', 1);
  const from = log.length;
  const beats = () => log.slice(from).filter(({ message }) => message.startsWith('lives '));
  while (beats().length < 50)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  expect(new Set(beats().map(({ message }) => message)).size).toBe(1);
  expect(connects).toBe(3);
});

test('a shard that fills its heap is ended, and the process lives', async () => {
  const { supervisor, logs, restarts } = supervise(
    `${ADMIT}${LISTEN}
     ${atFirst(`const kept = []; while (true) kept.push(new Array(10_000).fill({}));`)}
     await stop; tell({ kind: 'stopped' });`,
    { limits: { shardHeapMib: 64, restartPauseMs: 1, hangAfterMs: 1_000_000 } },
  );
  await supervisor.start();
  await logs('asked for port 4711', 1);
  expect(restarts()[0]!.fields?.['reason']).toMatch(/memory/);
});

test('a shard has a bound on its heap, no environment but what it is given, and no input', async () => {
  const { supervisor, log, logs } = supervise(
    `const { resourceLimits } = await import('node:worker_threads');
     const heapMib = resourceLimits.maxOldGenerationSizeMb;
     tell({ kind: 'log', entry: { level: 'info', message: 'heap ' + heapMib } });
     tell({ kind: 'log', entry: { level: 'info', message: JSON.stringify(process.env) } });
     process.stdin.once('end', () => tell({ kind: 'log', entry: { level: 'info', message: 'no input' } }));
     process.stdin.resume();
     ${ADMIT}${LISTEN} await stop; tell({ kind: 'stopped' });`,
    { limits: { shardHeapMib: 77 } },
  );
  await supervisor.start();
  await logs('no input', 1);
  expect(log.map(({ message }) => message)).toEqual(
    expect.arrayContaining(['heap 77', '{"GIVEN":"1"}']),
  );
});

/** Returns the response, or that the connection was refused because nobody listens. */
async function ask(port: number, method: string, body?: string) {
  while (true) {
    const asking = request({ port, method, path: '/any', headers: { host: 'any' } });
    asking.end(body);
    try {
      const [response] = (await once(asking, 'response')) as [IncomingMessage];
      return { response, body: await text(response) };
    } catch (error) {
      if (!['ECONNREFUSED', 'ECONNRESET'].includes(String((error as NodeJS.ErrnoException).code)))
        throw error;
    }
  }
}

describe('the port of a service whose shard has ended', () => {
  const ENDS = `${ADMIT}${LISTEN_TRULY} ${atFirst('process.exit(1);')} await stop; server.close(); tell({ kind: 'stopped' });`;
  const WAITS = { restartPauseMs: 100_000, restartPauseMaxMs: 100_000 };

  /** A service whose shard has ended, and its port. */
  async function held() {
    const service = supervise(ENDS, { limits: WAITS });
    const { address } = await service.supervisor.start();
    await service.logs('the shard ended by itself and is started again', 1);
    return { ...service, port: address!.port };
  }

  test.each([
    ['GET', undefined],
    ['POST', 'x'.repeat(1_000_000)],
  ])('answers a %s with 503 and when to try again', async (method, body) => {
    const { port } = await held();
    const answer = await ask(port, method, body);
    expect(answer.response.statusCode).toBe(503);
    expect(answer.response.headers).toMatchObject({
      'content-type': 'application/json',
      connection: 'close',
    });
    const retryAfter = Number(answer.response.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(1);
    expect(retryAfter).toBeLessThanOrEqual(100);
    expect(JSON.parse(answer.body)).toEqual({
      status: 503,
      error: expect.stringContaining('SVC_SHARD_FAILED'),
    });
  });

  test('is free once the service has stopped, whoever is connected', async () => {
    const { port, supervisor } = await held();
    await ask(port, 'GET');
    const idle = connect(port);
    await once(idle, 'connect');
    const closed = once(idle, 'close');
    idle.on('error', () => {});
    await supervisor.stop();
    await closed;
    const [error] = (await once(connect(port), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });

  test('is given back to the shard that is started again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { supervisor, logs } = supervise(ENDS, { limits: { restartPauseMs: 1_000 } });
    const { address } = await supervisor.start();
    await logs('the shard ended by itself and is started again', 1);
    expect((await ask(address!.port, 'GET')).response.statusCode).toBe(503);
    vi.advanceTimersByTime(1_000);
    await logs('the service is served again', 1);
    expect(await text(connect(address!.port))).toBe('the shard');
  });
});
