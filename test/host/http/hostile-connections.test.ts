// Callers that break every rule: whatever they send, leave incomplete, or leave behind, the server keeps running,
// does not count a request twice or for ever, and answers later callers. A failing run prints its seed: add it to
// SEEDS to repeat the run.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Random } from '../../support/random.ts';
import { JSON_BODY, RawClient, ask, descriptorOf, get, ok, start } from './http-harness.ts';

const SEEDS = [1, 2, 3, Math.floor(Math.random() * 2 ** 32)];

const PIECES = [
  get('/now'),
  get('/later'),
  get('/fails'),
  get('/none'),
  get('/now', 'connection: close\r\n'),
  get('/later', 'expect: 100-continue\r\n'),
  get('/now', 'upgrade: websocket\r\nconnection: upgrade\r\n'),
  'HEAD /later HTTP/1.1\r\nhost: test\r\n\r\n',
  'CONNECT test:80 HTTP/1.1\r\nhost: test\r\n\r\n',
  'POST /body HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
  'POST /body HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{}',
  'POST /body HTTP/1.1\r\nhost: test\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n{}',
  'POST /body HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 999999\r\n\r\n{}',
  'POST /body HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n',
  'POST /body HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'POST /body HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
  '\r\n',
  '\u0016\u0003\u0001',
  'GET /now HTTP/9.9\r\n\r\n',
];

/** The actions of a connection until it is closed. */
async function misbehave(random: Random, port: number): Promise<void> {
  const client = new RawClient(port, { allowHalfOpen: random.chance(30) });
  for (let step = random.below(6); step >= 0; step--) {
    const piece = random.pick(PIECES);
    client.send(random.chance(20) ? piece.slice(0, random.below(piece.length)) : piece);
    if (random.chance(40)) await setImmediate();
  }
  const end = random.below(4);
  if (end === 0) client.socket.resetAndDestroy();
  else if (end === 1) client.socket.destroy();
  else if (end === 2) client.socket.end();
  for (let turn = random.below(4); turn > 0; turn--) await setImmediate();
  client.socket.destroy();
}

const descriptor = descriptorOf([
  ['GET', '/now'],
  ['GET', '/later'],
  ['GET', '/fails'],
  ['POST', '/body', JSON_BODY],
]);
const IN_FLIGHT_MAX = 3;

describe('callers that keep to no rule', () => {
  test.each(SEEDS)('leave nothing behind: seed %i', async (seed) => {
    const random = new Random(seed);
    let running = 0;
    const { port, server, lines } = await start({
      descriptor,
      settings: { requestsInFlightMax: IN_FLIGHT_MAX, lingerTimeoutMs: 20, bodyBytesMax: 100 },
      handle: ({ route }) => {
        if (route === 2) throw new TypeError('a bug of the handler');
        if (route !== 1) return ok();
        running++;
        return setImmediate().then(() => {
          running--;
          return ok();
        });
      },
    });
    for (let round = 0; round < 40; round++)
      await Promise.all(Array.from({ length: 5 }, () => misbehave(random, port)));
    await expect.poll(() => running).toBe(0);
    // The maximum number of concurrent connections: one that was never released would make another one fail.
    await expect
      .poll(async () => {
        const answers = Array.from({ length: IN_FLIGHT_MAX }, () => ask(port, get('/later')));
        return (await Promise.all(answers)).map(({ status }) => status);
      })
      .toEqual(Array.from({ length: IN_FLIGHT_MAX }, () => 200));
    const bugs = lines.filter(({ level }) => level === 'error');
    expect(bugs.every(({ fields }) => fields.reason === 'a bug of the handler')).toBe(true);
    await server.stop(0);
  });
});

test('a tunnel is none of the server’s: CONNECT is 501 and ends the connection, and others are served', async () => {
  const { port } = await start({ descriptor });
  const client = new RawClient(port).send('CONNECT test:80 HTTP/1.1\r\nhost: test\r\n\r\n');
  expect(await client.answer()).toMatchObject({ status: 501, headers: { connection: 'close' } });
  expect(await client.rest()).toBe('');
  expect(await ask(port, get('/now'))).toMatchObject({ status: 200 });
});

test('requests that a CONNECT is sent behind are not counted for ever', async () => {
  const settings = { requestsInFlightMax: 2 };
  const { port } = await start({
    descriptor,
    settings,
    handle: () => setImmediate().then(() => ok()),
  });
  for (let turn = 0; turn < 3; turn++) {
    const client = new RawClient(port);
    client.send(`${get('/now')}${get('/now')}CONNECT test:80 HTTP/1.1\r\nhost: test\r\n\r\n`);
    await client.closed();
  }
  await expect.poll(async () => (await ask(port, get('/now'))).status).toBe(200);
});

test('no other protocol is switched to: the request is answered as it stands', async () => {
  const { port } = await start({ descriptor });
  const client = new RawClient(port);
  client.send(get('/now', 'upgrade: websocket\r\nconnection: upgrade\r\n') + get('/now'));
  expect(await client.answer()).toMatchObject({ status: 200 });
});

test('answers of one turn are written, though the caller of the first has gone meanwhile', async () => {
  const clients: RawClient[] = [];
  const { port } = await start({
    descriptor,
    handle: () => {
      // The socket is cut after the response was created and before it is written.
      if (clients.length > 0) clients.shift()!.socket.destroy();
      return ok();
    },
  });
  clients.push(new RawClient(port));
  clients[0]!.send(get('/now') + get('/now'));
  expect(await ask(port, get('/now'))).toMatchObject({ status: 200 });
  expect(await ask(port, get('/now'))).toMatchObject({ status: 200 });
});
