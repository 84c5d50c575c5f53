// Probes: routes by which a process reports what it reaches from its sandbox, as code that its author does not trust would.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { defineEndpoint, get } from '@svc/process';
import { Type } from 'typebox';

const Seen = Type.Object({
  env: Type.Record(Type.String(), Type.String()),
  pid: Type.Integer(),
  processes: Type.Array(Type.String()),
  descriptors: Type.Array(Type.String()),
});
const Address = Type.Object({ host: Type.String(), port: Type.Integer() });
const Path = Type.Object({ path: Type.String() });

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

function connection(host: string, port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect({ host, port, timeout: 3000 });
  const settle = (word: string): void => {
    socket.destroy();
    resolve(word);
  };
  socket.on('connect', () => settle('connected'));
  socket.on('timeout', () => settle('timeout'));
  socket.on('error', (error: NodeJS.ErrnoException) => settle(error.code ?? 'unknown'));
  return promise;
}

function descriptors(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [`${name} ${readlinkSync(`/proc/self/fd/${name}`)}`];
    } catch {
      return [];
    }
  });
}

export const probes = defineEndpoint({
  name: 'Probes',
  prefix: '/probes',
  access: 'internet',
  routes: {
    seen: get('/seen', { reply: Seen }, () => ({
      env: Object.fromEntries(
        Object.entries(process.env).map(([name, value]) => [name, value ?? '']),
      ),
      pid: process.pid,
      processes: readdirSync('/proc').filter((name) => /^\d+$/.test(name)),
      descriptors: descriptors(),
    })),
    file: get('/file', { query: Path, reply: Type.String() }, ({ query: { path } }) => read(path)),
    connect: get('/connect', { query: Address, reply: Type.String() }, ({ query }) =>
      connection(query.host, query.port),
    ),
    slow: get('/slow', { reply: Type.String() }, async () => {
      await pause(1000);
      return 'slow';
    }),
    die: get('/die', { reply: Type.String() }, () => process.exit(3)),
  },
});
