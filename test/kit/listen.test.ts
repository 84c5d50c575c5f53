// Listening on real sockets: the address that comes back, addresses that are shared, and errors that say how to choose
// another one.
import { BoundSocket, type BoundSocketOptions, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { httpUrl, listen, listenOnUnixSocket } from '../../kit/listen.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HOST = '127.0.0.1';
const WORDS = { settings: { host: '--host', port: '--port' } };

function server(): Server {
  const made = createServer();
  onTestFinished(() => void made.close());
  return made;
}

async function takenPort(): Promise<number> {
  const { port } = await listen(server(), { host: HOST, port: 0 }, {});
  return port;
}

function unixSocket(): number {
  // The types of Node lack the path. The server closes the descriptor.
  const path = join(temporaryFolder(), 'given.sock');
  const options: BoundSocketOptions & { readonly path: string } = { path };
  return new BoundSocket(options).fd();
}

function tcpSocket(): number {
  return new BoundSocket({ host: HOST, port: 0 }).fd();
}

test('the address that the server has is resolved with, for port 0 a free one', async () => {
  const own = server();
  const { host, port } = await listen(own, { host: 'localhost', port: 0 }, {});
  expect(['127.0.0.1', '::1']).toContain(host);
  expect(port).toBeGreaterThan(0);
  expect(own.address()).toMatchObject({ address: host, port });
});

test('no listener is left on the server', async () => {
  const own = server();
  await listen(own, { host: HOST, port: 0 }, {});
  expect(own.listenerCount('error')).toBe(0);
});

describe('a port in use', () => {
  test('is named with the setting of another one', async () => {
    const port = await takenPort();
    await expect(listen(server(), { host: HOST, port }, WORDS)).rejects.toMatchObject({
      code: 'SVC_PORT_IN_USE',
      message:
        `Port ${port} of ${HOST} is in use by another program. ` +
        'Stop that program, or choose another port with --port.',
      cause: { code: 'EADDRINUSE' },
    });
  });

  test('is named with the server that takes it', async () => {
    const port = await takenPort();
    const words = { server: 'the management server' };
    await expect(listen(server(), { host: HOST, port }, words)).rejects.toMatchObject({
      message:
        `Port ${port} of ${HOST}, which the management server takes, is in use by another program. ` +
        'Stop that program.',
    });
  });

  test('is named with the socket that was given, if another one listened first', async () => {
    // The server that cannot listen closes the descriptor.
    const bound = new BoundSocket({ host: HOST, port: 0 });
    const { port } = bound.address();
    await listen(server(), { host: HOST, port }, WORDS);
    const given = { host: HOST, port: 0, fd: bound.fd() };
    await expect(listen(server(), given, WORDS)).rejects.toMatchObject({
      code: 'SVC_PORT_IN_USE',
      message: `The port of the socket that was given with the file descriptor ${bound.fd()} is in use by another program. Stop that program.`,
    });
  });

  test('is refused to a server that would share it with one that does not', async () => {
    const port = await takenPort();
    const shared = { host: HOST, port, isShared: true };
    await expect(listen(server(), shared, WORDS)).rejects.toMatchObject({
      code: 'SVC_PORT_IN_USE',
    });
  });
});

test.runIf(process.platform === 'linux')('servers that share a port all listen on it', async () => {
  const { port } = await listen(server(), { host: HOST, port: 0, isShared: true }, WORDS);
  const again = await listen(server(), { host: HOST, port, isShared: true }, WORDS);
  expect(again).toEqual({ host: HOST, port });
});

describe.skipIf(process.platform === 'win32')('a socket that was given', () => {
  test('is listened on if it is of the kind that is wanted', async () => {
    const fd = tcpSocket();
    expect(await listen(server(), { host: '::1', port: 1, fd }, WORDS)).toMatchObject({
      host: HOST,
    });
    const own = server();
    await listenOnUnixSocket(own, unixSocket());
    expect([own.listening, own.listenerCount('error')]).toEqual([true, 0]);
  });

  test('is refused if it is of another kind', async () => {
    const given = { host: HOST, port: 0, fd: unixSocket() };
    await expect(listen(server(), given, WORDS)).rejects.toMatchObject({
      code: 'SVC_ADDRESS_UNAVAILABLE',
      message: `The socket that was given with the file descriptor ${given.fd} cannot be listened on (it has no port). Give a TCP socket that listens.`,
    });
    const fd = tcpSocket();
    await expect(listenOnUnixSocket(server(), fd)).rejects.toMatchObject({
      code: 'SVC_ADDRESS_UNAVAILABLE',
      message: `The socket that was given with the file descriptor ${fd} cannot be listened on (it has a port). Give a Unix domain socket that listens.`,
    });
  });
});

describe('an address that cannot be had', () => {
  test('is named with the settings of another one, and what the system said', async () => {
    // TEST-NET-1 (RFC 5737) belongs to no machine.
    const address = { host: '192.0.2.1', port: 0 };
    await expect(listen(server(), address, WORDS)).rejects.toMatchObject({
      code: 'SVC_ADDRESS_UNAVAILABLE',
      message:
        'The address 192.0.2.1, port 0, cannot be listened on (EADDRNOTAVAIL). ' +
        'Choose an address of this machine with --host, and a port from 1024 on with --port.',
    });
  });

  test('of a server whose host cannot be chosen is named with the setting of its port', async () => {
    const words = { server: 'the console', settings: { port: '--port' } };
    await expect(listen(server(), { host: '192.0.2.1', port: 80 }, words)).rejects.toMatchObject({
      message:
        'The address 192.0.2.1, port 80, which the console takes, cannot be listened on (EADDRNOTAVAIL). ' +
        'Choose a port from 1024 on with --port.',
    });
  });

  test('of a server without settings points to the network', async () => {
    const words = { server: 'the observability endpoint' };
    await expect(listen(server(), { host: '192.0.2.1', port: 0 }, words)).rejects.toMatchObject({
      message:
        'The address 192.0.2.1, port 0, which the observability endpoint takes, cannot be listened on ' +
        '(EADDRNOTAVAIL). Look at the network of this machine.',
    });
  });
});

test.each([
  [{ host: '127.0.0.1', port: 9000 }, 'http://127.0.0.1:9000'],
  [{ host: '::1', port: 80 }, 'http://[::1]:80'],
])('the URL of %j is %s', (address, url) => {
  expect(httpUrl(address)).toBe(url);
  expect(URL.canParse(url)).toBe(true);
});
