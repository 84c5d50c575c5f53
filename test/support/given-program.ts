// GivenProgram: a deployed service that is given its sockets as the orchestrator of one machine gives them, and requests to it with mutual TLS.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { BoundSocket } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { onTestFinished, vi } from 'vitest';
import { InstanceSockets, makeSocketsFolder } from '../../control-plane/local/instance-sockets.ts';
import type { SocketNames } from '../../control-plane/local/launch-command.ts';
import { socketVariables } from '../../kit/listening-sockets.ts';
import { mountCertificates } from './certificates/certificate-files.ts';
import { CART, GATEWAY, textsOf } from './certificates/test-identities.ts';
import { callSocketFile } from '../../kit/call-sockets.ts';
import { temporaryFolder } from './temporary-folder.ts';

const WAIT = { timeout: 20_000, interval: 20 };

/** Identity of a service of the project shop. */
export const idOf = (service: string) => CART.replace('cart', service);

/** Environment of a deployed service with an identity. */
export async function environmentOf(service: string): Promise<Record<string, string>> {
  const folder = temporaryFolder();
  mountCertificates(folder, await textsOf(idOf(service)));
  return {
    PATH: process.env['PATH']!,
    SVC_NAME: service,
    SVC_PROJECT: 'shop',
    SVC_DATA: temporaryFolder(),
    SVC_DEPLOYED: 'true',
    SVC_HTTP_HOST: '127.0.0.1',
    SVC_HTTP_PORT: '0',
    SVC_SHARDS: '2',
    SVC_IDENTITY_FOLDER: folder,
    SVC_IDENTITY_TRUST_DOMAIN: 'td',
    SVC_IDENTITY_GATEWAY: GATEWAY,
  };
}

export class GivenProgram {
  readonly child: ChildProcess;
  output = '';

  constructor(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
    sockets: InstanceSockets,
  ) {
    const [file = '', ...args] = command;
    this.child = spawn(file, args, {
      env: { ...env, ...socketVariables(sockets.names, process.pid) },
      stdio: ['ignore', 'pipe', 'pipe', ...sockets.fds],
    });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    onTestFinished(() => void this.child.kill('SIGKILL'));
  }

  async logs(wanted: RegExp): Promise<void> {
    await vi.waitFor(() => {
      if (!wanted.test(this.output)) throw new Error(`waited for ${wanted}:\n${this.output}`);
    }, WAIT);
  }

  async ends(signal?: 'SIGTERM'): Promise<number | null> {
    const ended = once(this.child, 'close') as Promise<[number | null]>;
    if (signal !== undefined) this.child.kill(signal);
    return (await ended)[0];
  }
}

/** A free address with the sockets of an instance there. */
export function openSockets(names: SocketNames) {
  const host = '127.85.2.1';
  const bound = [0, 0].map((port) => new BoundSocket({ host, port }));
  const [http, management] = bound.map((socket) => socket.address().port);
  for (const socket of bound) socket.close();
  const folder = makeSocketsFolder(temporaryFolder())!;
  const key = { project: 'shop', service: 'cart' };
  const ports = { http: http!, management: management!, remoting: 1 };
  const sockets = InstanceSockets.open(folder, { key, address: host, ports }, names);
  onTestFinished(() => sockets[Symbol.dispose]());
  return {
    host,
    ...ports,
    folder,
    sockets,
    file: callSocketFile(folder, key.project, { host, port: http! }),
  };
}

/** Asks with mutual TLS as the service, on a new connection. */
export async function ask(to: ConnectionOptions, service: string, path: string, body?: string) {
  const { certificate: cert, key, authorities: ca } = await textsOf(service);
  const socket = connect({ ...to, cert, key, ca, checkServerIdentity: () => undefined });
  onTestFinished(() => void socket.destroy());
  const agent = new Agent({ maxCachedSessions: 0 });
  onTestFinished(() => agent.destroy());
  const sent = request({
    createConnection: () => socket,
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
  }).end(body);
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  return { status: response.statusCode, body: (await response.toArray()).join('') };
}
