// The users of connections over loopback: as Linux lists them, and as the console judges those of this machine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWebhooksClient } from '@svc/client';
import { describe, expect, test } from 'vitest';
import { type ConnectionEnds, userIn } from '../../../console/server/connection-user.ts';
import { type ListedSockets, socketsOf } from '../../../console/server/socket-tables.ts';
import { ConsoleUnderTest } from '../support/console-under-test.ts';

const NOBODY = 65_534;
const ENDS = {
  client: { address: '127.0.0.1', port: 0xd2f0 },
  server: { address: '127.0.0.1', port: 0x2695 },
};
const SERVER = row('0100007F:2695', '0100007F:D2F0', '01', 1000, 7);

function row(local: string, remote: string, state: string, user: number, inode: number): string {
  return `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000 ${user}        0 ${inode} 1 0000000000000000 20 0 0 10 -1`;
}

function found(tables: string, ends: ConnectionEnds) {
  return userIn(socketsOf(tables), ends);
}

describe('the user of a connection', () => {
  test.each([
    ['0100007F:D2F0', '0100007F:2695'],
    ['0000000000000000FFFF00000100007F:D2F0', '0000000000000000FFFF00000100007F:2695'],
  ])('is that of its other end, %s', (local, remote) => {
    const other = row('0100007F:D2F1', '0100007F:2695', '01', 3, 9);
    const tables = [SERVER, other, row(local, remote, '01', 1001, 8)].join('\n');
    expect(found(tables, ENDS)).toBe(1001);
  });

  test.each([
    ['is closed', '05', 0, 0],
    ['is half closed', '04', 1001, 8],
    ['belongs to no process', '01', 0, 0],
  ])('is nobody if the other end %s', (_what, state, user, inode) => {
    const tables = [SERVER, row('0100007F:D2F0', '0100007F:2695', state, user, inode)].join('\n');
    expect(found(tables, ENDS)).toBeUndefined();
    expect(found(SERVER, ENDS)).toBeUndefined();
  });

  test('is nobody if the connection was reset, so that the tables have the listening socket alone', () => {
    const listening = row('0100007F:2695', '00000000:0000', '0A', 1000, 7);
    expect(found(listening, ENDS)).toBeUndefined();
  });

  test('is unknown where connections are not listed', () => {
    expect(found('', ENDS)).toBe('not-listed');
    expect(found(`${row('0100007F:D2F1', '0100007F:2695', '01', 0, 8)}\n`, ENDS)).toBe(
      'not-listed',
    );
  });
});

/** Asks for a path as a user of the machine, and returns the status. */
async function statusFor(user: number, url: string): Promise<string> {
  const program = `process.setgid(${user}); process.setuid(${user});
    fetch('${url}').then((answer) => process.stdout.write(String(answer.status)))`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let status = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (status += text));
  await once(child, 'close');
  return status;
}

test('tables that cannot be read are read again, and then there are no webhooks', async () => {
  const client = createWebhooksClient({ baseUrl: 'http://127.0.0.1:1' });
  let reads: ListedSockets[] = [];
  const served = await ConsoleUnderTest.start({
    webhooks: { url: 'https://api.example.com', tenant: 'acme', client },
    sockets: async () => reads.shift()!,
  });
  reads = ['unreadable', 'unreadable', 'not-listed'];
  expect((await served.ask('/api/webhooks')).status).toBe(200);
  reads = ['unreadable', 'unreadable', 'unreadable'];
  const { status, text } = await served.ask('/api/webhooks');
  expect([status, reads]).toEqual([503, []]);
  expect(text).toContain('cannot read which user has asked');
  expect(text).not.toContain('another user');
});

test('another user of the machine reaches the page, and no webhooks', async ({ skip }) => {
  skip(process.platform !== 'linux', 'only Linux lists connections with their users');
  skip(process.getuid!() !== 0, 'only root can start a program as another user');
  const client = createWebhooksClient({ baseUrl: 'http://127.0.0.1:1' });
  const served = await ConsoleUnderTest.start({
    webhooks: { url: 'https://api.example.com', tenant: 'acme', client },
  });
  const path = `${served.url}/api/webhooks`;
  expect(await Promise.all([0, NOBODY].map((user) => statusFor(user, path)))).toEqual([
    '200',
    '403',
  ]);
  expect(await statusFor(NOBODY, served.url)).toBe('200');
});
