// A shard's requests to other services on raw sockets: what a service receives, what the module gets, and the bounds of both.
import { describe, expect, onTestFinished, test } from 'vitest';
import { PlainConnector } from '../../../forward/service-connector.ts';
import { notFound, type ServiceFinder } from '../../../forward/service-finder.ts';
import type { Metadata } from '../../../model/call.ts';
import type { ServiceRequest, ServiceResponse } from '../../../model/service-call.ts';
import {
  CALL_SETTINGS_DEFAULT,
  type CallSettings,
} from '../../../host/service-calls/call-settings.ts';
import { ServiceCaller } from '../../../host/service-calls/service-caller.ts';
import { RawListener } from '../../forward/support/raw-peer.ts';

const TRACE: Metadata = [['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]];
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** A caller that finds the service `billing` at the listener, and `gone` where nobody listens. */
async function calling(settings: Partial<CallSettings> = {}) {
  const service = await RawListener.open();
  const gone = await RawListener.open();
  await gone.close();
  const ports = new Map([
    ['billing', service.port],
    ['gone', gone.port],
  ]);
  const failures: string[] = [];
  const finder: ServiceFinder = {
    find: async ({ service: name }) => {
      const port = ports.get(name);
      if (port === undefined) return notFound('it is not there');
      const addresses = [{ host: '127.0.0.1', port }];
      return { kind: 'found', authority: `${name}.example:9000`, addresses };
    },
    close() {},
  };
  const caller = new ServiceCaller({
    settings: { ...CALL_SETTINGS_DEFAULT, ...settings },
    finder,
    connector: (sweep) => new PlainConnector(5000, sweep),
    project: 'shop',
    lifetimeMs: () => Infinity,
    onFailure: (name, reason) => void failures.push(`${name}: ${reason}`),
  });
  onTestFinished(() => caller.close());
  const send = (request: Partial<ServiceRequest>, signal = new AbortController().signal) =>
    caller.request(
      {
        service: 'billing',
        method: 'GET',
        path: '/',
        headers: [],
        body: new Uint8Array(),
        ...request,
      },
      TRACE,
      signal,
    );
  return { caller, service, send, failures };
}

const textOf = ({ body }: ServiceResponse): string => Buffer.from(body).toString();
const shown = (response: ServiceResponse): string => {
  const isOwn = response.headers.some(
    ([name, value]) => name === 'x-svc-answered-by' && value === 'proxy',
  );
  return `${response.status} ${isOwn ? (JSON.parse(textOf(response)) as { error: string }).error : textOf(response)}`;
};

describe('a request', () => {
  test('reaches the service with its Host and trace, and without fields of the hop and of the platform', async () => {
    const { service, send } = await calling();
    const answer = send({
      method: 'PATCH',
      path: '/items?x=1',
      headers: [
        ['Host', 'other'],
        ['X-Svc-Caller', 'internet'],
        ['x_svc_caller', 'internet'],
        ['Transfer-Encoding', 'chunked'],
        ['Content-Length', '0'],
        ['Connection', 'x-hop'],
        ['X-Hop', '1'],
        ['Upgrade', 'h2c'],
        ['X-Own', 'a'],
        ['x-own', 'b'],
      ],
      body: Buffer.from('abc'),
    });
    const peer = await service.next();
    expect(await peer.message()).toEqual({
      lines: [
        'PATCH /items?x=1 HTTP/1.1',
        'Host: billing.example:9000',
        'X-Own: a',
        'x-own: b',
        `traceparent: ${TRACE[0]![1]}`,
        'Content-Length: 3',
      ],
      body: 'abc',
    });
    peer.write(
      'HTTP/1.1 404 No\r\nX-A: \xe9\r\nx-a: 2\r\nX-Svc-Answered-By: proxy\r\nKeep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\nX-T: 1\r\n\r\n',
    );
    const { body, ...head } = await answer;
    expect(head).toEqual({
      status: 404,
      headers: [
        ['x-a', 'é'],
        ['x-a', '2'],
        ['x-svc-answered-by', 'proxy'],
      ],
    });
    expect(Buffer.from(body).toString()).toBe('no');
    // The connection is used again.
    const second = send({ method: 'HEAD' });
    expect((await peer.head())[0]).toBe('HEAD / HTTP/1.1');
    peer.write('HTTP/1.1 204 No Content\r\n\r\n');
    expect(await second).toMatchObject({ status: 204 });
    expect(service.accepted).toBe(1);
  });

  test.each([
    ['POST', 'Content-Length: 0'],
    ['PUT', 'Content-Length: 0'],
    ['GET', undefined],
    ['DELETE', undefined],
  ])('without a body: %s has %s', async (method, length) => {
    const { service, send } = await calling();
    const answer = send({ method });
    const peer = await service.next();
    const lines = await peer.head();
    expect(lines.find((line) => line.startsWith('Content-Length'))).toBe(length);
    peer.write(OK);
    expect(shown(await answer)).toBe('200 ok');
  });

  test('passes over interim responses', async () => {
    const { service, send } = await calling();
    const answer = send({});
    const peer = await service.next();
    await peer.head();
    peer.write(`HTTP/1.1 103 Early\r\nLink: x\r\n\r\n${OK}`);
    expect(shown(await answer)).toBe('200 ok');
  });

  test('is answered by the runtime where no service answers', async () => {
    const { service, send, failures } = await calling();
    expect(shown(await send({ service: 'none' }))).toBe('503 The service none cannot be found.');
    expect(shown(await send({ service: 'none.bank' }))).toBe(
      '503 The service none of the project bank cannot be found.',
    );
    expect(shown(await send({ service: 'gone' }))).toBe(
      '503 The service shop/gone is not listening.',
    );
    expect(failures).toEqual([
      'shop/none: it is not there',
      'bank/none: it is not there',
      expect.stringMatching(/^shop\/gone: refused/),
    ]);
    const post = send({ method: 'POST', body: Buffer.from('x') });
    const peer = await service.next();
    await peer.message();
    peer.socket.destroy();
    expect(shown(await post)).toBe(
      '502 The service shop/billing closed the connection before it answered.',
    );
    expect(service.accepted).toBe(1);
  });

  test.each([
    ['switches protocols', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n'],
    ['is not HTTP', 'SSH-2.0-x\r\n\r\n'],
    ['has two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ])('whose response %s is 502', async (_what, bytes) => {
    const { service, send } = await calling();
    const answer = send({ method: 'POST' });
    const peer = await service.next();
    await peer.head();
    peer.write(bytes);
    expect(shown(await answer)).toMatch(
      /^502 The service shop\/billing sent a response that is not valid/,
    );
  });

  test('that is a GET is sent once more if the connection closes before a response, and others are not', async () => {
    const { service, send } = await calling();
    const answer = send({});
    const first = await service.next();
    await first.head();
    first.socket.destroy();
    const second = await service.next();
    await second.head();
    second.write(OK);
    expect(shown(await answer)).toBe('200 ok');
    const again = send({});
    await second.head();
    second.socket.destroy();
    const third = await service.next();
    await third.head();
    third.socket.destroy();
    expect(shown(await again)).toMatch(/^502 .* closed the connection before it answered/);
    const begun = send({});
    const fourth = await service.next();
    await fourth.head();
    fourth.write('HTTP/1.1 103 Early\r\n\r\n');
    fourth.socket.end();
    expect(shown(await begun)).toMatch(/^502 .* closed the connection before it answered/);
    expect(service.accepted).toBe(4);
  });
});

describe('the bounds', () => {
  test.each([
    ['announces', 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n'],
    ['sends', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n'],
    ['sends until it closes', 'HTTP/1.1 200 OK\r\n\r\nabcdef'],
  ])(
    'a response that %s more bytes than the most is 502, and its connection is cut',
    async (_how, bytes) => {
      const { service, send } = await calling({ responseBytesMax: 5 });
      const answer = send({});
      const peer = await service.next();
      await peer.head();
      peer.write(bytes);
      expect(shown(await answer)).toMatch(
        /^502 The service shop\/billing sent a response with more than 5 bytes/,
      );
      await peer.rest();
    },
  );

  test('a response of the most bytes passes', async () => {
    const { service, send } = await calling({ responseBytesMax: 2 });
    const answer = send({});
    const peer = await service.next();
    await peer.head();
    peer.write(OK);
    expect(shown(await answer)).toBe('200 ok');
  });

  test('a response in chunks of a byte takes at most twice its bytes of memory', async () => {
    const { caller, service, send } = await calling();
    const answer = send({});
    const peer = await service.next();
    await peer.head();
    peer.write(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(30_000)}`,
    );
    await expect.poll(() => caller.responseBytes).toBeGreaterThanOrEqual(30_000);
    expect(caller.responseBytes).toBeLessThanOrEqual(60_000);
    peer.write('0\r\n\r\n');
    expect(textOf(await answer)).toBe('a'.repeat(30_000));
    expect(caller.responseBytes).toBe(0);
  });

  test('a response for which those of other calls leave no room is 502, and its connection is cut', async () => {
    const total = 64 * 1024;
    const { caller, service, send } = await calling({ responseBytesTotalMax: total });
    const cancelled = new AbortController();
    const begin = async (bytes: number, signal?: AbortSignal) => {
      const answer = send({}, signal);
      const peer = await service.next();
      await peer.head();
      peer.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${'a'.repeat(bytes - 1)}`);
      return { answer, peer };
    };
    const first = await begin(40 * 1024, cancelled.signal);
    await expect.poll(() => caller.responseBytes).toBeGreaterThanOrEqual(40 * 1024 - 1);
    const second = await begin(40 * 1024);
    expect(shown(await second.answer)).toBe(
      '502 The response of the service shop/billing was thrown away: responses that are not complete fill the memory that the runtime of the calling component has for them (svc.calls.response-bytes-total-max).',
    );
    await second.peer.rest();
    expect(caller.responseBytes).toBeLessThanOrEqual(total);
    cancelled.abort(new Error('nobody waits'));
    await expect(first.answer).rejects.toThrow('nobody waits');
    expect(caller.responseBytes).toBe(0);
    const third = await begin(40 * 1024);
    third.peer.write('a');
    expect(textOf(await third.answer)).toHaveLength(40 * 1024);
  });

  test.each([
    ['begins no response', ''],
    ['does not finish its response', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'],
    ['sends interim responses', 'HTTP/1.1 103 Early\r\n\r\n'],
  ])('a service that %s in time is 504, and its connection is cut', async (_how, bytes) => {
    const { service, send } = await calling({ timeoutMs: 100 });
    const answer = send({});
    const peer = await service.next();
    await peer.head();
    peer.write(bytes);
    expect(shown(await answer)).toBe(
      '504 The service shop/billing did not begin to answer within 0.1 seconds.',
    );
    await peer.rest();
  });

  test('a request that is cancelled rejects with the reason, and its connection is cut', async () => {
    const { service, send } = await calling();
    const cancelled = new AbortController();
    const answer = send({}, cancelled.signal);
    const peer = await service.next();
    await peer.head();
    const reason = new Error('nobody waits');
    cancelled.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await peer.rest();
    await expect(send({}, cancelled.signal)).rejects.toBe(reason);
  });

  test('no more requests are in flight than the most, and the next is sent once one has settled', async () => {
    const { service, send } = await calling({ inFlightMax: 2 });
    const both = [send({}), send({})];
    await expect(send({})).rejects.toMatchObject({
      code: 'SVC_OVERLOADED',
      message: expect.stringContaining('svc.calls.in-flight-max') as string,
    });
    const peers = [await service.next(), await service.next()];
    await peers[0]!.head();
    peers[0]!.write(OK);
    await Promise.race(both);
    const third = send({});
    await peers[0]!.head();
    for (const peer of peers) peer.write(OK);
    expect((await Promise.all([...both, third])).map(shown)).toEqual([
      '200 ok',
      '200 ok',
      '200 ok',
    ]);
    expect(service.accepted).toBe(2);
  });

  test('a request that is not valid is denied before anything is looked for', async () => {
    const { service, send } = await calling();
    await expect(send({ path: 'x' })).rejects.toMatchObject({ code: 'SVC_SERVICE_CALL_DENIED' });
    expect(service.accepted).toBe(0);
  });

  test('after its end nothing is sent', async () => {
    const { caller, service, send } = await calling();
    caller.close();
    await expect(send({})).rejects.toMatchObject({ code: 'SVC_STOPPING' });
    expect(service.accepted).toBe(0);
  });
});
