// Who listens at an address of this machine: in tables of Linux, and with real sockets.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listenerAt, listenersAt } from '../../../console/server/listener-user.ts';
import { type ListedSockets, socketsOf } from '../../../console/server/socket-tables.ts';
import { anotherUser, listening, ownUser } from '../support/listed-socket.ts';

const NOBODY = 65_534;
const ADDRESS = { host: '127.0.0.1', port: 0x2695 };

function users(local: string, state = '0A', address = ADDRESS): readonly number[] {
  const remote = '00000000:0000';
  const row = `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000 1001        0 7 1 0000000000000000 20 0 0 10 -1`;
  return listenersAt(socketsOf(row), address);
}

test.each([
  ['at the address', '0100007F:2695'],
  ['at all addresses', '00000000:2695'],
  ['at the address, mapped', '0000000000000000FFFF00000100007F:2695'],
  ['at all addresses of IPv6', '00000000000000000000000000000000:2695'],
])('a socket that listens %s takes its connections', (_where, local) => {
  expect(users(local)).toEqual([1001]);
});

test.each([
  ['at another port', '0100007F:2696', '0A'],
  ['at another address', '0200007F:2695', '0A'],
  ['for another protocol', '00000000000000000000000001000000:2695', '0A'],
  ['no longer', '0100007F:2695', '06'],
])('a socket that listens %s takes none', (_where, local, state) => {
  expect(users(local, state)).toEqual([]);
});

test('the loopback address of IPv6 is found', () => {
  const address = { host: '::1', port: 0x2695 };
  expect(users('00000000000000000000000001000000:2695', '0A', address)).toEqual([1001]);
  expect(users('0100007F:2695', '0A', address)).toEqual([]);
  expect(users('00000000:2695', '0A', address)).toEqual([]);
});

/** Returns who listens by the tables, of which each read has the next ones, and how often they were read. */
async function listenerBy(...tables: readonly ListedSockets[]) {
  let reads = 0;
  const listener = await listenerAt(ADDRESS, async () => tables[reads++]!);
  return [listener, reads];
}

test('the address is that of this user if nobody else listens there, too', async () => {
  const url = `http://127.0.0.1:${ADDRESS.port}`;
  const [own, root, another] = [ownUser(), 0, anotherUser()].map((user) => listening(url, user));
  expect(await listenerBy([own!, root!])).toEqual(['own', 1]);
  expect(await listenerBy([own!, another!])).toEqual(['another', 1]);
  expect(await listenerBy('not-listed')).toEqual(['own', 1]);
  expect(await listenerBy([], [], [])).toEqual(['nobody', 3]);
});

test('tables that cannot be read are read again, and then nobody knows who listens', async () => {
  const own = [listening(`http://127.0.0.1:${ADDRESS.port}`)];
  expect(await listenerBy('unreadable', 'unreadable', own)).toEqual(['own', 3]);
  expect(await listenerBy('unreadable', 'unreadable', 'unreadable')).toEqual(['unreadable', 3]);
});

test('a server of this process is one of this user, and where nobody listens there is none', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = { host: '127.0.0.1', port };
  expect(await listenerAt(address)).toBe('own');
  server.close();
  await once(server, 'close');
  expect(await listenerAt(address)).toBe(process.platform === 'linux' ? 'nobody' : 'own');
});

test('a server of another user is not one of this user', async ({ skip }) => {
  skip(process.platform !== 'linux', 'only Linux lists sockets with their users');
  skip(process.getuid!() !== 0, 'only root can start a program as another user');
  const program = `process.setgid(${NOBODY}); process.setuid(${NOBODY});
    const server = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const [port] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  expect(await listenerAt({ host: '127.0.0.1', port: Number(port) })).toBe('another');
});
