// Fronts: programs that stand in front of a server, svc's own and nginx and haproxy, each a process of its own that a measurement starts.
//
// Invariant: a front is in use only once it accepts connections.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect as connectTcp, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onProcessors } from './cores.ts';

export type PeerKind = 'nginx' | 'haproxy';

const START_MS_MAX = 30_000;

/** A server in front of which the client stands: a front, or the server behind it. */
export interface Served {
  readonly pid: number;
  /** Opens a connection. */
  readonly dial: () => Socket;
}

export interface Started {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Returns whether a peer is installed. */
export function isInstalled(kind: PeerKind): boolean {
  return spawnSync(kind, ['-v'], { stdio: 'ignore' }).error === undefined;
}

export interface PeerStart {
  /** Receives the configuration of the peer, and what the peer writes. */
  readonly folder: string;
  readonly port: number;
  readonly config: string;
  /** Processors in the format of taskset; undefined: any. */
  readonly processors: string | undefined;
}

/** Starts nginx or haproxy in the foreground. */
export async function startPeer(
  kind: PeerKind,
  { folder, port, config, processors }: PeerStart,
): Promise<Started> {
  mkdirSync(folder);
  const file = join(folder, 'peer.conf');
  writeFileSync(file, config);
  const args = kind === 'nginx' ? ['-p', folder, '-e', 'stderr', '-c', file] : ['-db', '-f', file];
  const child = spawn(...onProcessors(processors, kind, args), {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const untilMs = performance.now() + START_MS_MAX;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > untilMs)
      throw new Error(`${kind} does not listen`);
    await pause(20);
  }
  return { child, port };
}

export interface NginxServer {
  readonly folder: string;
  /** Directives of the `http` block. */
  readonly http: string;
}

/** Returns the configuration of an nginx with one worker in the foreground, which writes nothing outside its folder. */
export function nginxConfig({ folder, http }: NginxServer): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  return `
daemon off;
master_process off;
worker_processes 1;
pid ${join(folder, 'pid')};
error_log stderr error;
events { worker_connections 8192; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
${http}
}
`;
}

/** Ends processes, the last one first. */
export async function endAll(children: readonly ChildProcess[]): Promise<void> {
  for (const child of children.toReversed()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

export function nodeOn(
  processors: string | undefined,
  ...args: readonly string[]
): [command: string, args: string[]] {
  return onProcessors(processors, process.execPath, args);
}

/**
 * Starts a program. Resolves once its output has a match for each pattern; the first group of the first one is the port.
 * Rejects if the program ends before.
 */
export async function started(
  [command, args]: [string, string[]],
  patterns: readonly RegExp[],
): Promise<Started> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ready = Promise.withResolvers<number>();
  const look = (chunk: string): void => {
    output += chunk;
    const found = patterns.map((pattern) => pattern.exec(output));
    if (found.every((match) => match !== null)) ready.resolve(Number(found[0]![1]));
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', look);
  child.once('exit', () => ready.reject(new Error(`${args.join(' ')} ended:\n${output}`)));
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
  try {
    return { child, port: await ready.promise };
  } finally {
    clearTimeout(timer);
  }
}

export function plain(port: number): Socket {
  return connectTcp({ host: '127.0.0.1', port, noDelay: true });
}

export async function accepts(port: number): Promise<boolean> {
  const socket = plain(port);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
