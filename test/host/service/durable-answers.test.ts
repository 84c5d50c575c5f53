// A complete service over real HTTP, with a journal whose writes are held: no byte of a response is sent before the
// events that it reports are on disk.
import { afterEach, describe, expect, test } from 'vitest';
import { createEngine } from '../../../host/engine/entity-engine.ts';
import { createWasmGuest } from '../../../host/hosting/wasm/wasm-guest.ts';
import { requestHandler } from '../../../host/http/requests/request-handler.ts';
import { systemEventLoop, systemDigest } from '../../../host/system.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { HeldJournal } from '../../support/held-journal.ts';
import { RawClient, ask, get, start } from '../http/http-harness.ts';

const module = compileFixture('counter');
const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve() {
  const guest = await createWasmGuest(await module);
  closing.push(() => guest.close());
  const journal = new HeldJournal(new MemoryJournal());
  let seed = 0n;
  const clock = { nowMs: () => 1, monotonicMs: () => 1 };
  const random = { next64: () => ++seed };
  const engine = createEngine({
    guest,
    journal,
    clock,
    random,
    digest: systemDigest,
    eventLoop: systemEventLoop,
    faultLog: () => {},
  });
  const handle = requestHandler({ guest, engine, clock, random });
  const { port } = await start({ descriptor: guest.descriptor, handle });
  const events = async (id: string) =>
    (await journal.read({ component: 'counter', id }, 0, 100)).length;
  const written = async (count: number) => {
    await expect.poll(() => journal.waitingCount).toBe(count);
  };
  return { port, journal, events, written };
}

function add(id: string, amount: number): string {
  const body = JSON.stringify({ amount });
  return `POST /counters/${id} HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** A connection, and the bytes that were received on it. */
function client(port: number) {
  const raw = new RawClient(port);
  let bytes = 0;
  raw.socket.on('data', (text: string) => (bytes += text.length));
  return { raw, bytes: () => bytes };
}

/** A service with the entity `awake` in memory, whose writes are held. */
async function serveHeld() {
  const service = await serve();
  await ask(service.port, get('/counters/awake'));
  service.journal.held = true;
  return service;
}

describe.each([
  ['in memory', 'awake'],
  ['not in memory', 'asleep'],
])('the answer of a POST to an entity that is %s', (_what, id) => {
  test('leaves when its event is on disk, and no byte before; others are answered', async () => {
    const { port, journal, events, written } = await serveHeld();
    const { raw, bytes } = client(port);
    raw.send(add(id, 3));
    await written(1);
    // When later requests have been answered, earlier bytes have arrived, too.
    for (let turn = 0; turn < 3; turn++)
      expect((await ask(port, get('/counters/other'))).status).toBe(200);
    expect([bytes(), await events(id)]).toEqual([0, 0]);
    await journal.letAllThrough();
    expect(await raw.answer()).toMatchObject({ status: 200, body: '{"value":3}' });
    expect([journal.appendCount, await events(id)]).toEqual([1, 1]);
  });

  test('is 503 when the write fails, and what was asked behind it is answered anew', async () => {
    const { port, journal, events, written } = await serveHeld();
    const { raw, bytes } = client(port);
    const reader = client(port);
    raw.send(add(id, 3));
    await written(1);
    reader.raw.send(get(`/counters/${id}`));
    expect((await ask(port, get('/counters/other'))).status).toBe(200);
    expect([bytes(), reader.bytes()]).toEqual([0, 0]);
    await journal.fail();
    const { status, headers } = await raw.answer();
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(await reader.raw.answer()).toMatchObject({ status: 200, body: '{"value":0}' });
    expect([journal.appendCount, await events(id)]).toEqual([1, 0]);
    journal.held = false;
    expect(await raw.send(add(id, 4)).answer()).toMatchObject({ status: 200, body: '{"value":4}' });
  });
});

test('many POSTs to one entity are answered in order, each when its own event is on disk', async () => {
  const { port, journal, events, written } = await serve();
  await ask(port, get('/counters/a'));
  journal.held = true;
  const clients = [];
  for (let number = 1; number <= 5; number++) {
    const one = client(port);
    one.raw.send(add('a', 1));
    await written(number);
    clients.push(one);
  }
  for (const [index, { raw }] of clients.entries()) {
    await journal.letThrough();
    expect(await raw.answer()).toMatchObject({ body: `{"value":${index + 1}}` });
    expect(clients.slice(index + 1).map(({ bytes }) => bytes())).toEqual(
      clients.slice(index + 1).map(() => 0),
    );
  }
  expect(await events('a')).toBe(5);
});
