// ManagementServer over real sockets: its answers, and the clients that it cuts.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { SingleNode } from '../../../../host/introspection/management/cluster-members.ts';
import {
  ManagementServer,
  type ManagedNode,
} from '../../../../host/introspection/management/management-server.ts';

const NAMES = { host: 'svc.management.host', port: 'svc.management.port' };

const self = new SingleNode('cart', 'here', '0123456789abcdef');
const NODE: ManagedNode = {
  version: '1.2.3',
  readiness: () => ({ ready: true, parts: [{ part: 'cluster', ready: true }] }),
  metrics: () => '# TYPE x counter\nx 1\n',
  members: () => self.members(),
};

async function start(node: Partial<ManagedNode> = {}, timeoutMs?: number) {
  const bugs: unknown[] = [];
  const onBug = (error: unknown) => void bugs.push(error);
  const server = new ManagementServer(
    { ...NODE, ...node },
    timeoutMs === undefined ? { onBug } : { onBug, timeoutMs },
  );
  onTestFinished(async () => server.close());
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 }, NAMES);
  return { server, bugs, port, url: `http://127.0.0.1:${port}` };
}

/** More bytes than the buffers at both ends of a connection hold. */
const muchText = () => 'x'.repeat(64 * 1024 * 1024);

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket.on('error', () => {});
}

test('GET /ready is 200 when ready, and 503 with the parts that do not agree', async () => {
  const parts = [{ part: 'journal', ready: false, reason: 'It is not open yet.' }];
  const { url } = await start();
  const ready = await fetch(`${url}/ready`);
  expect([ready.status, await ready.json()]).toEqual([200, NODE.readiness()]);
  const unready = await fetch(
    `${(await start({ readiness: () => ({ ready: false, parts }) })).url}/ready?verbose`,
  );
  expect([unready.status, await unready.json()]).toEqual([503, { ready: false, parts }]);
});

test('GET /alive is 200 while the node is running', async () => {
  const answer = await fetch(`${(await start()).url}/alive`);
  expect([answer.status, await answer.json()]).toEqual([200, { alive: true }]);
});

test('GET /svc/version is a JSON object with the version', async () => {
  const answer = await fetch(`${(await start()).url}/svc/version`);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(await answer.json()).toEqual({ version: '1.2.3' });
});

test('GET /svc/metrics is text exposition format 0.0.4, whatever is accepted', async () => {
  const headers = { accept: 'application/openmetrics-text;version=1.0.0' };
  const answer = await fetch(`${(await start()).url}/svc/metrics`, { headers });
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await answer.text()).toBe('# TYPE x counter\nx 1\n');
});

test('GET /cluster/members lists the nodes, and a node has a route of its own', async () => {
  const { url } = await start();
  const list = await (await fetch(`${url}/cluster/members`)).json();
  expect(list).toEqual(self.members());
  const { node } = self.members().members[0]!;
  for (const path of [node, encodeURIComponent(node)]) {
    const one = await fetch(`${url}/cluster/members/${path}`);
    expect([one.status, await one.json()]).toEqual([200, self.members().members[0]]);
  }
  expect((await fetch(`${url}/cluster/members/other`)).status).toBe(404);
});

test('HEAD is answered as GET, without its content', async () => {
  const answer = await fetch(`${(await start()).url}/svc/metrics`, { method: 'HEAD' });
  expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '21']);
  expect(await answer.text()).toBe('');
});

test('another path is 404, another method 405 with Allow', async () => {
  const { url } = await start();
  for (const path of ['/', '/ready/', '/metrics', '/svc', '/observability/service', '/%zz'])
    for (const method of ['GET', 'POST'])
      expect((await fetch(url + path, { method })).status, `${method} ${path}`).toBe(404);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const answer = await fetch(`${url}/ready`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await answer.json()).toEqual({ status: 405, error: `${method} is not allowed here.` });
  }
});

test('an answer that cannot be made is 500, and the server answers the next request', async () => {
  const bug = new Error('odd');
  const { url, bugs } = await start({
    metrics: () => {
      throw bug;
    },
  });
  expect((await fetch(`${url}/svc/metrics`)).status).toBe(500);
  expect(bugs).toEqual([bug]);
  expect((await fetch(`${url}/alive`)).status).toBe(200);
});

test('more than a hundred connections are not taken', async () => {
  const { port } = await start();
  const taken = await Promise.all(Array.from({ length: 100 }, async () => connected(port)));
  for (const socket of taken) socket.resume();
  const further = await connected(port);
  await once(further.resume(), 'close');
  expect(taken.filter((socket) => socket.closed)).toEqual([]);
  for (const socket of taken) socket.destroy();
});

test('100 connections that say nothing are cut, and others are answered again', async () => {
  const { port, url } = await start({}, 300);
  const silent = await Promise.all(Array.from({ length: 100 }, async () => connected(port)));
  await Promise.all(silent.map(async (socket) => once(socket.resume(), 'close')));
  expect((await fetch(`${url}/alive`)).status).toBe(200);
});

test('a client that sends its request, or takes its answer, too slowly is cut', async () => {
  const { port, url } = await start({ metrics: muchText }, 300);
  const served = new Map<number, Socket>();
  const keep = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    served.set(socket.remotePort!, socket);
  };
  subscribe('net.server.socket', keep);
  onTestFinished(() => void unsubscribe('net.server.socket', keep));
  const [slow, body, deaf] = [await connected(port), await connected(port), await connected(port)];
  slow.write('GET /ready HTTP/1.1\r\nhost: x\r\n');
  body.write('POST /nothing HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nab');
  deaf.write('GET /svc/metrics HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(await text(slow)).toMatch(/^HTTP\/1\.1 408 /);
  expect(await text(body)).toMatch(/^HTTP\/1\.1 404 .*connection: close/is);
  while (!served.get(deaf.localPort!)!.closed) await (await fetch(`${url}/alive`)).text();
});

test('a taken port is reported with the setting that chooses it', async () => {
  const { port } = await start();
  const other = new ManagementServer(NODE, { onBug: () => {} });
  await expect(other.listen({ host: '127.0.0.1', port }, NAMES)).rejects.toMatchObject({
    code: 'SVC_PORT_IN_USE',
    message: expect.stringMatching(
      `^Port ${port} of 127.0.0.1, .*svc\\.management\\.port`,
    ) as string,
  });
  // No machine has this address (RFC 5737).
  await expect(other.listen({ host: '192.0.2.1', port: 0 }, NAMES)).rejects.toMatchObject({
    code: 'SVC_ADDRESS_UNAVAILABLE',
    message: expect.stringContaining('svc.management.host') as string,
  });
  await other.close();
});

test('connections that cannot be accepted are reported, and others are answered', async () => {
  const { url, bugs } = await start();
  const servers = new Set<Server>();
  const keep = (message: unknown) => servers.add((message as { server: Server }).server);
  subscribe('http.server.request.start', keep);
  onTestFinished(() => void unsubscribe('http.server.request.start', keep));
  expect((await fetch(`${url}/alive`)).status).toBe(200);
  const [server] = servers;
  const errors = [new Error('accept ENFILE'), new Error('accept ENFILE')];
  for (const error of errors) server!.emit('error', error);
  expect(bugs).toEqual(errors);
  expect((await fetch(`${url}/alive`)).status).toBe(200);
});

test('it closes at once, though a scraper keeps its connection', async () => {
  const { server, port } = await start();
  const scraper = await connected(port);
  scraper.write('GET /svc/metrics HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(scraper, 'data');
  await server.close();
  await once(scraper.resume(), 'close');
  expect(scraper.closed).toBe(true);
});
