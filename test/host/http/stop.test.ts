import { describe, expect, test } from 'vitest';
import { descriptorOf, gate, get, ok, RawClient, start, TEXT_BODY } from './http-harness.ts';

const LONG_GRACE_MS = 600_000;

/** A server whose handler waits for a gate. */
async function startHeld() {
  const handler = gate();
  let begun = 0;
  const running = await start({
    descriptor: descriptorOf([
      ['GET', '/{x}'],
      ['POST', '/{x}', TEXT_BODY],
    ]),
    handle: async (request) => {
      begun += 1;
      await handler.passed;
      return ok(request.parameters[0]);
    },
  });
  const untilBegun = async (count: number) => {
    await expect.poll(() => begun).toBe(count);
  };
  return { ...running, handler, untilBegun };
}

describe('stop', () => {
  test('finishes what is in flight and then closes its connections', async () => {
    const { server, port, handler, untilBegun } = await startHeld();
    const client = new RawClient(port).send(get('/1'));
    await untilBegun(1);
    const stopped = server.stop(LONG_GRACE_MS);
    handler.open();
    const answer = await client.answer();
    expect([answer.body, answer.headers['connection']]).toEqual(['1', 'close']);
    expect(await stopped).toEqual({ hasCut: false });
    expect(await client.rest()).toBe('');
  });

  test('finishes pipelined requests, all of them', async () => {
    const { server, port, handler, untilBegun } = await startHeld();
    const client = new RawClient(port).send(get('/1') + get('/2') + get('/3'));
    await untilBegun(3);
    const stopped = server.stop(LONG_GRACE_MS);
    handler.open();
    const answers = [await client.answer(), await client.answer(), await client.answer()];
    expect(answers.map((answer) => answer.body)).toEqual(['1', '2', '3']);
    expect(answers[2]!.headers['connection']).toBe('close');
    await stopped;
  });

  test('reads the rest of a body that is on its way', async () => {
    const { server, port, handler } = await startHeld();
    handler.open();
    const client = new RawClient(port).send(
      'POST /1 HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n',
    );
    expect((await client.answer()).status).toBe(100);
    const stopped = server.stop(LONG_GRACE_MS);
    expect((await client.send('abc').answer()).body).toBe('1');
    await stopped;
  });

  test('closes idle connections at once', async () => {
    const { server, port, handler } = await startHeld();
    handler.open();
    const used = new RawClient(port);
    await used.send(get('/1')).answer();
    const unused = new RawClient(port);
    const partial = new RawClient(port).send('GET /1 HTTP/1.1\r\nho');
    // All three requests have arrived once a later connection is served.
    await new RawClient(port).send(get('/2')).answer();
    // None of the connections had a running request, however short the grace period is.
    expect(await server.stop(0)).toEqual({ hasCut: false });
    expect([await used.rest(), await unused.rest(), await partial.rest()]).toEqual(['', '', '']);
  });

  test('takes no further connection', async () => {
    const { server, port, handler, untilBegun } = await startHeld();
    const client = new RawClient(port).send(get('/1'));
    await untilBegun(1);
    const stopped = server.stop(LONG_GRACE_MS);
    await expect(fetch(`http://127.0.0.1:${port}/2`)).rejects.toThrow('fetch failed');
    handler.open();
    await client.answer();
    await stopped;
  });

  test('answers a further request of a busy connection with 503 and closes it', async () => {
    const { server, port, handler } = await startHeld();
    handler.open();
    const client = new RawClient(port).send(
      'POST /1 HTTP/1.1\r\nhost: t\r\ncontent-type: text/plain\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n',
    );
    expect((await client.answer()).status).toBe(100);
    const stopped = server.stop(LONG_GRACE_MS);
    // Both requests are in one piece, so the second has arrived before the first is answered.
    client.send(`abc${get('/2')}`);
    expect((await client.answer()).body).toBe('1');
    const second = await client.answer();
    expect([second.status, second.headers['connection']]).toEqual([503, 'close']);
    expect(JSON.parse(second.body)).toEqual({
      status: 503,
      error: expect.stringContaining('SVC_STOPPING'),
    });
    await stopped;
  });

  test('does not cut an answer that is still leaving', async () => {
    const text = 'x'.repeat(32 * 1024 * 1024);
    const { server, port } = await start({
      descriptor: descriptorOf([['GET', '/a']]),
      settings: { responseBytesMax: text.length },
      handle: () => ok(text),
    });
    const client = new RawClient(port).send(get('/a'));
    await new Promise((resolve) => client.socket.once('data', resolve));
    client.socket.pause();
    const stopped = server.stop(LONG_GRACE_MS);
    await expect(fetch(`http://127.0.0.1:${port}/a`)).rejects.toThrow('fetch failed');
    client.socket.resume();
    expect((await client.answer()).body).toHaveLength(text.length);
    await stopped;
  });

  test('cuts what is left after the grace', async () => {
    const { server, port, untilBegun, lines } = await startHeld();
    const client = new RawClient(port).send(get('/1') + get('/2'));
    await untilBegun(2);
    expect(await server.stop(20)).toEqual({ hasCut: true });
    expect(await client.rest()).toBe('');
    expect(lines).toEqual([]);
  });

  test('cuts at once with no grace', async () => {
    const { server, port, untilBegun } = await startHeld();
    const client = new RawClient(port).send(get('/1'));
    await untilBegun(1);
    await server.stop(0);
    expect(await client.rest()).toBe('');
  });

  test('cuts an answer that its caller does not take, and says so', async () => {
    const text = 'x'.repeat(32 * 1024 * 1024);
    const { server, port } = await start({
      descriptor: descriptorOf([['GET', '/a']]),
      settings: { responseBytesMax: text.length },
      handle: () => ok(text),
    });
    const client = new RawClient(port).send(get('/a'));
    await new Promise((resolve) => client.socket.once('data', resolve));
    client.socket.pause();
    expect(await server.stop(0)).toEqual({ hasCut: true });
    client.socket.destroy();
  });

  test('asked for twice is the same stop', async () => {
    const { server, port, handler, untilBegun } = await startHeld();
    const client = new RawClient(port).send(get('/1'));
    await untilBegun(1);
    const stopped = server.stop(LONG_GRACE_MS);
    const again = server.stop(0);
    handler.open();
    expect((await client.answer()).body).toBe('1');
    await Promise.all([stopped, again]);
  });

  test('does not wait for a handler whose caller was told that it is late', async () => {
    const never = new Promise<never>(() => undefined);
    const { server, port } = await start({
      descriptor: descriptorOf([['GET', '/a']]),
      settings: { answerTimeoutMs: 20 },
      handle: () => never,
    });
    const client = new RawClient(port).send(get('/a'));
    expect((await client.answer()).status).toBe(504);
    await server.stop(LONG_GRACE_MS);
  });
});
