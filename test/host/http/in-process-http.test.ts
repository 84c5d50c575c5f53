// The server without a socket checks and answers requests like the one with a socket.
import { afterEach, expect, test } from 'vitest';
import { type Caller, INTERNET } from '../../../host/http/access.ts';
import { InProcessHttp } from '../../../host/http/in-process-http.ts';
import { RouteTable } from '../../../host/http/route-table.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { JSON_BODY, descriptorOf, ok, start } from './http-harness.ts';

const descriptor = descriptorOf([
  ['GET', '/things/{id}'],
  ['POST', '/things', JSON_BODY],
  ['DELETE', '/things/{id}', { access: { allow: 'nobody' } }],
  ['GET', '/fault'],
]);
const open: InProcessHttp[] = [];
afterEach(() => {
  for (const http of open.splice(0)) http.close();
});

const handle = ({
  route,
  caller,
  parameters,
  headers,
}: {
  route: number;
  caller: string;
  parameters: readonly string[];
  headers: readonly (readonly [string, string])[];
}) => {
  if (route === 3) throw new GuestFault('trap', 'boom');
  const seen = headers.filter(([name]) => name.startsWith('x-'));
  return ok(JSON.stringify({ caller, parameters, seen }), [
    ['x-answer', 'a'],
    ['x-answer', 'b'],
  ]);
};

function inProcess(): InProcessHttp {
  let seed = 0n;
  const http = new InProcessHttp({
    routes: new RouteTable(descriptor),
    handle,
    random: { next64: () => (seed += 1n) },
    project: undefined,
    log: { warn: () => {}, error: () => {} },
  });
  open.push(http);
  return http;
}

const requests: [string, string, Record<string, string>, string?][] = [
  ['GET', '/things/a%20b?x=1', { 'x-one': '1' }],
  ['GET', '/nothing', {}],
  ['PUT', '/things', {}],
  ['POST', '/things', { 'content-type': 'application/json' }, '{}'],
  ['POST', '/things', { 'content-type': 'text/plain' }, 'text'],
  ['POST', '/things', { 'content-type': 'application/json' }, 'x'.repeat(1024 * 1024 + 1)],
  ['DELETE', '/things/a', {}],
  ['OPTIONS', '/things/a', {}],
  ['GET', '/fault', {}],
];

test.each(requests)(
  '%s %s with %j answers as over a socket',
  async (method, target, headers, body) => {
    const running = await start({ descriptor, handle, caller: INTERNET });
    const over = await fetch(running.url + target, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const list = Object.entries({ host: 'test', ...headers });
    const answer = await inProcess().request({
      method,
      target,
      headers: list,
      body,
      caller: INTERNET,
    });
    expect(answer.status).toBe(over.status);
    expect(Buffer.from(answer.body).toString()).toBe(await over.text());
    const names = ['content-type', 'content-length', 'allow', 'accept', 'x-answer'];
    for (const name of names) {
      const values = answer.headers.filter(([found]) => found === name).map(([, value]) => value);
      expect(values.join(', ') || null).toBe(over.headers.get(name));
    }
    expect(answer.headers.map(([name]) => name)).not.toContain('date');
  },
);

test('each request has its own caller', async () => {
  const http = inProcess();
  const callers: Caller[] = [
    INTERNET,
    { kind: 'local' },
    { kind: 'service', project: 'p', service: 's' },
  ];
  const seen = await Promise.all(
    callers.map(async (caller) => {
      const headers = [['host', 'test']] as const;
      const request = { method: 'GET', target: '/things/1', headers, body: undefined, caller };
      const answer = await http.request(request);
      return (JSON.parse(Buffer.from(answer.body).toString()) as { caller: string }).caller;
    }),
  );
  expect(seen).toEqual(['internet', 'local', 'service p/s']);
});

test('closing cuts what is under way', async () => {
  const http = new InProcessHttp({
    routes: new RouteTable(descriptor),
    handle: () => new Promise(() => {}),
    random: { next64: () => 1n },
    project: undefined,
    log: { warn: () => {}, error: () => {} },
  });
  const headers = [['host', 'test']] as const;
  const answer = http.request({
    method: 'GET',
    target: '/things/1',
    headers,
    body: undefined,
    caller: INTERNET,
  });
  await new Promise((resolve) => setImmediate(resolve));
  http.close();
  await expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
});
