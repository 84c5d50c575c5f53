// The sockets of a service that its shards cannot share: what arrives there reaches the service's own port, and what it answers the caller.
import { BoundSocket, connect, createServer, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { checkModuleSockets } from '../../../host/service/given-sockets.ts';
import { SocketRelay } from '../../../host/service/socket-relay.ts';

const HOST = '127.0.0.1';
const isLinux = process.platform === 'linux';
if (!isLinux) console.log('Skipped: sockets of instances are for the namespaces of Linux.');

/** A service that answers with what it has received, in capitals. */
async function service(): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let received = '';
    socket.setEncoding('utf8').on('data', (part: string) => (received += part));
    socket.on('end', () => socket.end(received.toUpperCase()));
  });
  onTestFinished(() => void server.close());
  server.listen(0, HOST);
  await once(server, 'listening');
  return server;
}

function answerAt(port: number): Promise<string> {
  const socket = connect({ host: HOST, port, allowHalfOpen: true });
  socket.end('tea');
  return text(socket);
}

test.runIf(isLinux)(
  'the socket for requests leads to the port of the service until it is closed',
  async () => {
    const given = new BoundSocket({ host: HOST, port: 0 });
    const { port } = given.address();
    const sections = { http: { connectionsMax: 10 } };
    await expect(answerAt(port)).rejects.toThrow(/ECONNREFUSED/);
    const { port: own } = (await service()).address() as AddressInfo;
    const relay = new SocketRelay({ sockets: { http: given.fd() }, sections });
    const phase = relay.phase(() => ({ host: '0.0.0.0', port: own }));
    await phase.start!(new AbortController().signal);
    expect(await answerAt(port)).toBe('TEA');
    await phase.stop!();
    given.close();
    await expect(answerAt(port)).rejects.toThrow(/ECONNREFUSED/);
  },
);

test('a service without HTTP opens nothing', async () => {
  const sections = { http: { connectionsMax: 10 } };
  const relay = new SocketRelay({ sockets: { http: 999, calls: 998 }, sections });
  const phase = relay.phase(() => undefined);
  await expect(phase.start!(new AbortController().signal)).resolves.toBeUndefined();
  expect(() => phase.stop!()).not.toThrow();
});

test('only beside a process is a service given the socket of its port', () => {
  expect(() => checkModuleSockets({ http: 3 }, { kind: 'process' })).not.toThrow();
  expect(() => checkModuleSockets({ calls: 3 }, { kind: 'module' })).not.toThrow();
  expect(() => checkModuleSockets({ http: 3 }, { kind: 'module' })).toThrow(/LISTEN_FDNAMES/);
});
