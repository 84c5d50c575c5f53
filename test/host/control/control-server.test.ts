// The control socket, asked over a real socket by the client of the tools and by clients that do not keep to HTTP.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  controlMessage,
  type ControlledService,
  type ControlRequest,
} from '../../../host/control/control-request.ts';
import { ControlServer } from '../../../host/control/control-server.ts';
import { sendControl } from '../../../kit/control-client.ts';
import { makeControlSocket } from '../../../kit/control-socket.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';
import { SvcError } from '../../../kit/svc-error.ts';

interface Served {
  readonly socket: string;
  readonly requests: ControlRequest[];
  readonly log: LogEntry[];
  readonly server: ControlServer;
}

const CANCEL: ControlRequest = { kind: 'cancel-timer', owner: null, name: 'nightly' };

const VIEWS: ReturnType<ControlledService['views']> = [
  {
    view: 'orders',
    definition: 'ab'.repeat(32),
    state: 'stopped',
    lagRecords: 3,
    lagSeconds: 1.5,
    progress: 0.5,
    problem: {
      code: 'SVC_VIEW_STOPPED',
      reason: 'it trapped \u001b[2J',
      event: { component: 'order', id: 'a', seq: 2 },
    },
    skipped: [],
  },
];

function socketPath(): string {
  const socket = makeControlSocket()!;
  onTestFinished(() => rmSync(dirname(socket), { recursive: true, force: true }));
  return socket;
}

async function serve(
  change: ControlledService['change'] = async () => true,
  limits: { readonly requestTimeoutMs?: number; readonly changeTimeoutMs?: number } = {},
): Promise<Served> {
  const socket = socketPath();
  const requests: ControlRequest[] = [];
  const log: LogEntry[] = [];
  const server = new ControlServer({
    service: {
      views: () => VIEWS,
      change(request) {
        requests.push(request);
        return change(request);
      },
    },
    log: (entry) => void log.push(entry),
    ...limits,
  });
  await server.listen(socket);
  onTestFinished(() => server.close());
  return { socket, requests, log, server };
}

async function ask({ socket }: Served, request: ControlRequest) {
  const { path, body } = controlMessage(request);
  const { status, body: text } = await sendControl(socket, path, body);
  return { status, text, json: JSON.parse(text) as Record<string, unknown> };
}

/** Sends bytes, and resolves with all that comes back until the server closes the connection. */
async function raw({ socket }: Served, ...parts: readonly string[]): Promise<string> {
  const connection: Socket = connect(socket);
  let answer = '';
  connection.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  connection.on('error', () => {});
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  connection.on('close', () => resolve());
  for (const part of parts) connection.write(part);
  await closed;
  return answer;
}

function post(path: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

test.each<readonly [ControlRequest, object]>([
  [CANCEL, { kind: 'cancel-timer', owner: 'service', name: 'nightly' }],
  [
    { kind: 'retry-timer', owner: { component: 'order', id: 'a/b "c"' }, name: 'expire' },
    { kind: 'retry-timer', owner: 'order/a/b "c"', name: 'expire' },
  ],
  [
    { kind: 'rebuild-view', view: 'orders' },
    { kind: 'rebuild-view', view: 'orders' },
  ],
  [
    {
      kind: 'skip-in-view',
      view: 'orders',
      entity: { component: 'order', id: 'a' },
      seq: 3,
      reason: 'known',
    },
    { kind: 'skip-in-view', view: 'orders', entity: 'order/a', event: 3, reason: 'known' },
  ],
  [
    { kind: 'retry-lane', consumer: 'ledger', entity: { component: 'order', id: 'a' } },
    { kind: 'retry-lane', consumer: 'ledger', entity: 'order/a' },
  ],
  [
    { kind: 'retry-lanes', consumer: 'ledger' },
    { kind: 'retry-lanes', consumer: 'ledger' },
  ],
  [
    {
      kind: 'skip-in-lane',
      consumer: 'ledger',
      entity: { component: 'order', id: 'a' },
      seq: 1,
      reason: '',
    },
    { kind: 'skip-in-lane', consumer: 'ledger', entity: 'order/a', event: 1, reason: '' },
  ],
])('carries out a request, and logs it: %j', async (request, fields) => {
  const served = await serve();
  expect(await ask(served, request)).toMatchObject({ status: 200, json: { changed: true } });
  expect(served.requests).toEqual([request]);
  expect(served.log).toEqual([
    {
      level: 'info',
      message: 'an operator has asked for a change',
      fields: { ...fields, changed: true },
    },
  ]);
});

test('shows the views of the service', async () => {
  const served = await serve();
  const { status, body } = await sendControl(served.socket, '/views');
  expect([status, JSON.parse(body)]).toEqual([200, { views: VIEWS }]);
  expect(body).not.toContain('\u001b');
  expect((await sendControl(served.socket, '/views', {})).status).toBe(405);
});

test('says that there was nothing to change, and why a change was refused', async () => {
  const none = await serve(async () => false);
  expect(await ask(none, CANCEL)).toMatchObject({ status: 200, json: { changed: false } });
  const full = await serve(() => Promise.reject(new SvcError('SVC_DISK_FULL', 'It is \u001b[2J.')));
  const { status, text, json } = await ask(full, CANCEL);
  expect([status, json['code'], json['error']]).toEqual([409, 'SVC_DISK_FULL', 'It is \u001b[2J.']);
  // On the wire there is nothing that a terminal would interpret.
  expect(text).not.toContain('\u001b');
});

test('a bug fails one request, and is in the log', async () => {
  let isFirst = true;
  const served = await serve(async () => {
    if (!isFirst) return true;
    isFirst = false;
    throw new Error('a bug');
  });
  expect(await ask(served, CANCEL)).toMatchObject({ status: 500 });
  expect(served.log[0]?.fields?.['reason']).toContain('a bug');
  expect(await ask(served, CANCEL)).toMatchObject({ status: 200 });
});

test('a change that takes too long has an unknown outcome', async () => {
  const served = await serve(() => new Promise(() => {}), { changeTimeoutMs: 20 });
  const { status, json } = await ask(served, CANCEL);
  expect([status, json['code']]).toEqual([504, 'SVC_ANSWER_TIMED_OUT']);
});

test.each([
  ['not JSON', 'x', 'not JSON'],
  ['no object', '[]', 'not a JSON object'],
  ['no name', '{"owner":null}', "'name'"],
  ['a name of another type', '{"owner":null,"name":1}', "'name'"],
  ['a long name', JSON.stringify({ owner: null, name: 'x'.repeat(4_097) }), "'name'"],
  ['no owner', '{"name":"a"}', "'owner'"],
  ['half an owner', '{"owner":{"component":"a"},"name":"a"}', "'id'"],
  ['too much', '{"owner":null,"name":"a","\\u001b[2J":1}', 'not known'],
  ['a prototype', '{"__proto__":{"owner":null},"name":"a"}', "'owner'"],
])('refuses a body with %s', async (_what, body, why) => {
  const served = await serve();
  const answer = await raw(served, post('/timers/cancel', body));
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain(why);
  expect(answer).not.toContain('\u001b');
  expect(served.requests).toEqual([]);
});

test.each([
  ['an unknown path', post('/timers/Cancel', '{}'), 404],
  ['a name of a prototype', post('/__proto__', '{}'), 404],
  ['a path with a query', post('/timers/cancel?x', '{}'), 404],
  ['another method', 'GET /timers/cancel HTTP/1.1\r\nhost: x\r\n\r\n', 405],
  ['bytes that are no HTTP', 'x\r\n\r\n', 400],
  [
    'two lengths',
    'POST /timers/cancel HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}',
    400,
  ],
  [
    'long headers',
    `POST /timers/cancel HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(10_000)}\r\n\r\n`,
    431,
  ],
])('refuses %s', async (_what, bytes, status) => {
  const served = await serve();
  expect(await raw(served, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(served.requests).toEqual([]);
});

test.each([
  ['with a length', `content-length: ${70 * 1024}\r\n\r\n${' '.repeat(70 * 1024)}`],
  [
    'in chunks',
    `transfer-encoding: chunked\r\n\r\n${(70 * 1024).toString(16)}\r\n${' '.repeat(70 * 1024)}\r\n`,
  ],
])('refuses a large body %s', async (_how, rest) => {
  const served = await serve();
  expect(await raw(served, `POST /timers/cancel HTTP/1.1\r\nhost: x\r\n${rest}`)).toMatch(
    /^HTTP\/1\.1 413 /,
  );
});

test.each([
  ['headers', 'POST /timers/cancel HTTP/1.1\r\nhost:'],
  ['body', 'POST /timers/cancel HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{'],
])('cuts a sender of slow %s', async (_what, bytes) => {
  const served = await serve(undefined, { requestTimeoutMs: 100 });
  await raw(served, bytes);
  expect(served.requests).toEqual([]);
  expect(await ask(served, CANCEL)).toMatchObject({ status: 200 });
});

test('serves at most 16 connections, and others again when these have gone', async () => {
  const served = await serve();
  const idle = Array.from({ length: 16 }, () => connect(served.socket));
  await Promise.all(idle.map((connection) => once(connection, 'connect')));
  expect(await raw(served, post('/timers/cancel', '{}'))).toBe('');
  for (const connection of idle) connection.destroy();
  await expect
    .poll(() =>
      ask(served, CANCEL).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
});

test('a closed server leaves no socket, and the client says so', async () => {
  const served = await serve();
  await served.server.close();
  await expect(ask(served, CANCEL)).rejects.toMatchObject({ code: 'SVC_CONTROL_UNAVAILABLE' });
});

test.each([
  ['does not speak HTTP', 'SSH-2.0\r\n'],
  ['answers without an end', `HTTP/1.1 200 OK\r\n\r\n${' '.repeat(1024 * 1024 + 1)}`],
  ['switches to another protocol', 'HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ['closes the connection', ''],
])('the client rejects a program that %s', async (_what, answer) => {
  const socket = socketPath();
  const other = createServer((connection) => {
    connection.on('error', () => {});
    connection.once('data', () =>
      answer === '' ? connection.destroy() : connection.write(answer),
    );
  }).listen({ path: socket });
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  await expect(sendControl(socket, '/timers/cancel', {})).rejects.toMatchObject({
    code: 'SVC_CONTROL_UNAVAILABLE',
  });
});
