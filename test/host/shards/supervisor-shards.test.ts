// Supervisor of a service with several shards, with threads that act as shards would.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  ADMIT,
  connectionOf,
  descriptor,
  failsWith,
  LISTEN,
  supervise,
} from '../../support/acting-service.ts';

/** Like ADMIT, and keeps the ports to the other shards. */
const MEET = `
  const serve = told('serve');
  tell({ kind: 'admitted', descriptor: ${JSON.stringify(descriptor)} });
  const { journal, peers } = await serve;
  const say = (message) => tell({ kind: 'log', entry: { level: 'info', message } });
  const meet = ({ index, port }) => {
    say(settings.index + ' met ' + index);
    port.on('message', (text) => say(settings.index + ' heard ' + text));
    port.postMessage('from ' + settings.index);
    return port;
  };
  const ports = peers.map(meet);
  const { parentPort } = await import('node:worker_threads');
  parentPort.on('message', ({ kind, peer, index, pauseMs }) => {
    if (kind === 'peer') ports.push(meet(peer));
    if (kind === 'peer-away') say(settings.index + ' misses ' + index + ' for ' + pauseMs);
  });`;
const STOP = `await stop; tell({ kind: 'finished', hasCut: false }); await told('close'); tell({ kind: 'stopped' });`;

afterEach(() => void vi.useRealTimers());

test('each line of a shard names it in the log, where there are several', async () => {
  const program = `${ADMIT}
    tell({ kind: 'log', entry: { level: 'warn', message: 'said', fields: { shard: 7, more: 1 } } });
    ${LISTEN}${STOP}`;
  const [several, one] = [supervise(program, { shards: 2 }), supervise(program)];
  await several.supervisor.start();
  await one.supervisor.start();
  const fields = ({ log }: typeof one) =>
    log.filter(({ message }) => message === 'said').map((line) => line.fields);
  // The shards themselves do not know their indexes.
  expect(fields(several)).toHaveLength(2);
  expect(fields(several)).toEqual(
    expect.arrayContaining([
      { shard: 0, more: 1 },
      { shard: 1, more: 1 },
    ]),
  );
  expect(fields(one)).toEqual([{ shard: 7, more: 1 }]);
});

test('all shards listen where the first does, and each meets every other once', async () => {
  const { supervisor, log, logs, connects } = supervise(`${MEET}${LISTEN}${STOP}`, { shards: 3 });
  expect(await supervisor.start()).toEqual({
    address: { host: '192.0.2.1', port: 4711 },
    descriptor,
  });
  expect(connects()).toBe(3);
  await logs('asked for port 4711', 2);
  const pairs = [0, 1, 2].flatMap((one) =>
    [0, 1, 2].filter((other) => other !== one).map((other) => [one, other] as const),
  );
  for (const [one, other] of pairs) await logs(`${one} heard from ${other}`, 1);
  expect(log.filter(({ message }) => message.includes(' met '))).toHaveLength(6);
  expect(await supervisor.stop()).toBe(true);
});

test('a shard that ends is started again by itself, meets the others, and its ends are counted', async () => {
  const { supervisor, log, logs, restarts } = supervise(
    `${MEET}${LISTEN}
     if (settings.index === 1 && settings.address.port !== 0) {
       // Address of the count of faults of the kind 'trap', which outlives the thread.
       if (++new Float64Array(settings.counters)[0] === 1) process.exit(1);
     }
     ${STOP}`,
    { shards: 2, limits: { restartPauseMs: 1 } },
  );
  await supervisor.start();
  await logs('the service is served again', 1);
  await logs('0 met 1', 2);
  await logs('0 misses 1 for 1', 1);
  await logs('0 heard from 1', 2);
  expect(restarts()).toHaveLength(1);
  expect(restarts()[0]!.fields).toMatchObject({ shard: 1, ends: 1 });
  expect(log.find(({ message }) => message === 'the service is served again')!.fields).toEqual({
    shard: 1,
  });
  expect(log.filter(({ message }) => message === 'asked for port 0')).toHaveLength(1);
  // It counts after it has reported that it listens.
  await expect.poll(() => supervisor.counters.read()['fault:trap']).toBe(2);
  expect(supervisor.counters.read()).toMatchObject({ 'shard-ends': 1 });
  expect(await supervisor.stop()).toBe(true);
});

test('what a shard kept for callers is given back when it ends', async () => {
  const { supervisor, logs } = supervise(
    `${MEET}${LISTEN}
     const [unsent, bodies] = [settings.budgets.unsent, settings.budgets.bodies].map(
       (shared) => new Float64Array(shared));
     const second = unsent.length / 2;
     if (settings.index === 1 && settings.address.port !== 0) {
       unsent[second] = 70;
       bodies[second] = 80;
       process.exit(1);
     }
     parentPort.on('message', ({ kind }) => {
       if (kind === 'peer-away') say('kept ' + [...unsent, ...bodies].join(''));
     });
     ${STOP}`,
    { shards: 2, limits: { restartPauseMs: 1_000_000 } },
  );
  await supervisor.start();
  await logs(`kept ${'0'.repeat(32)}`, 1);
  expect(await supervisor.stop()).toBe(true);
});

test('no shard closes its engine before every other has finished its requests', async () => {
  const { supervisor, log } = supervise(
    `${MEET}${LISTEN}
     await stop;
     if (settings.index === 0) await new Promise((resolve) => {
       for (const port of ports) port.on('message', (text) => { if (text === 'finished') resolve(); });
     });
     say('finished ' + settings.index);
     tell({ kind: 'finished', hasCut: false });
     for (const port of ports) port.postMessage('finished');
     await told('close');
     say('closed ' + settings.index);
     tell({ kind: 'stopped' });`,
    { shards: 2 },
  );
  await supervisor.start();
  expect(await supervisor.stop()).toBe(true);
  const lines = log.map(({ message }) => message);
  expect(lines).toContain('finished 0');
  expect(lines.indexOf('finished 0')).toBeLessThan(lines.indexOf('closed 1'));
});

test('a shard that does not finish keeps the others from closing for its time only', async () => {
  const { supervisor, logs } = supervise(
    `${MEET}${LISTEN} await stop;
     if (settings.index === 0) await new Promise(() => {});
     const close = told('close');
     say('finished ' + settings.index);
     tell({ kind: 'finished', hasCut: false });
     await close; say('closed ' + settings.index); tell({ kind: 'stopped' });`,
    { shards: 2, limits: { stopGraceMs: 1, stopMarginMs: 400 } },
  );
  await supervisor.start();
  // Starting threads takes its own time.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const stopped = supervisor.stop();
  await logs('finished 1', 1);
  vi.advanceTimersByTime(201);
  await logs('closed 1', 1);
  vi.advanceTimersByTime(200);
  expect(await stopped).toBe(false);
});

test('no shard is left of a service one of whose shards cannot be started', async () => {
  const { supervisor } = supervise(
    `if (settings.index === 1) return tell({ kind: 'failed', code: 'SVC_MODULE_START_FAILED', message: 'No.' });
     ${ADMIT}${LISTEN}${STOP}`,
    { shards: 2 },
  );
  expect(await failsWith(supervisor.start())).toMatchObject({ code: 'SVC_MODULE_START_FAILED' });
  expect(await supervisor.stop()).toBe(true);
});

async function freePort(): Promise<number> {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  other.close();
  await once(other, 'close');
  return port;
}

test('a stop while the port is looked at lets no shard begin', async () => {
  const port = await freePort();
  const { supervisor, connects } = supervise(`${ADMIT}${LISTEN}${STOP}`, { shards: 2, port });
  const started = failsWith(supervisor.start());
  expect(await supervisor.stop()).toBe(true);
  expect(await started).toMatchObject({ code: 'SVC_STOPPING' });
  expect(connects()).toBe(0);
});

/** A server that shares the port with others; 0: any port. */
async function listenShared(port: number): Promise<number> {
  const other = createServer().listen({ port, host: '127.0.0.1', reusePort: true });
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  return (other.address() as AddressInfo).port;
}

test('a port that somebody listens on is not shared with them', async () => {
  const port = await listenShared(0);
  const { supervisor, connects } = supervise(`${ADMIT}${LISTEN}${STOP}`, { shards: 2, port });
  expect(await failsWith(supervisor.start())).toMatchObject({
    code: 'SVC_PORT_IN_USE',
    message: expect.stringContaining(`Port ${port} of 127.0.0.1`),
  });
  expect(connects()).toBe(0);
});

test('nor with somebody who has begun to listen there while the journal is opened', async () => {
  const port = await freePort();
  let others: Promise<number> | undefined;
  const { supervisor, log } = supervise(`${ADMIT}${LISTEN}${STOP}`, {
    shards: 2,
    port,
    connect: async () => {
      await (others ??= listenShared(port));
      return connectionOf(new MessageChannel().port1);
    },
  });
  expect(await failsWith(supervisor.start())).toMatchObject({ code: 'SVC_PORT_IN_USE' });
  expect(log).toEqual([]);
});
