// RemotePair: two nodes in this process, of which one serves on a loopback port, and the other calls it.
import { onTestFinished } from 'vitest';
import type { CallingNode } from '../../../host/remoting/accepted-connection.ts';
import type { NodeIdentity } from '../../../host/remoting/handshake.ts';
import type { RemotingBounds } from '../../../host/remoting/remoting-limits.ts';
import { RemoteNodes } from '../../../host/remoting/remote-nodes.ts';
import type { RemotingTls } from '../../../host/remoting/remoting-tls.ts';
import { type NodeService, RemotingServer } from '../../../host/remoting/remoting-server.ts';
import type { ForwardedCall } from '../../../host/shards/frame.ts';
import type { PeerProtocol } from '../../../host/shards/peer-protocol.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import type { ByteBudget } from '../../../model/byte-budget.ts';
import type { Reply } from '../../../model/call.ts';
import { ampleBudget } from '../kept-bytes.ts';
import { within } from '../within.ts';

export const SERVING: NodeIdentity = {
  cluster: 'cluster-a',
  number: 1,
  uid: 'uid-1',
  version: '0.1.0',
  fingerprint: 'module-a',
};
export const CALLING: NodeIdentity = { ...SERVING, number: 2, uid: 'uid-2' };
/** Numbers of parameters of two routes. */
export const ROUTES = [1, 0];

export interface PairOptions {
  readonly service: Partial<NodeService>;
  readonly serviceFor: (node: CallingNode) => Partial<NodeService>;
  readonly serving: NodeIdentity;
  readonly calling: NodeIdentity;
  readonly unsent: ByteBudget;
  readonly bounds: RemotingBounds;
  /** TLS of the node that serves, and of the one that calls. */
  readonly servingTls: RemotingTls;
  readonly callingTls: RemotingTls;
}

export const reply = (json: string): Reply => ({ kind: 'reply', json });

export function callOf(name: string, input = 'null'): ForwardedCall {
  return [
    { component: 'counter', id: 'a' },
    name,
    input,
    [['traceparent', '00-1-2-01']],
    undefined,
  ];
}

export async function outcomeOf(answer: () => Promise<unknown> | undefined): Promise<unknown> {
  try {
    return await answer();
  } catch (error) {
    return error instanceof SvcError ? error.code : error;
  }
}

/** Waits until something holds, and looks in every turn of the event loop. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const looking = { ends: false };
  const look = async (): Promise<void> => {
    while (!holds() && !looking.ends)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  };
  await within(20, what, look()).finally(() => {
    looking.ends = true;
  });
}

/** Starts a node that serves. */
export async function servingNode({
  service = {},
  serving = SERVING,
  unsent = ampleBudget(),
  serviceFor = () => service,
  bounds,
  servingTls: tls,
}: Partial<PairOptions> = {}) {
  const log: LogEntry[] = [];
  const server = new RemotingServer({
    self: () => serving,
    routes: ROUTES,
    unsent,
    bounds,
    tls,
    log: (entry) => log.push(entry),
    serviceFor: (node) => ({
      serve: ([, name]) => reply(`"${name}"`),
      serveRequest: () => {
        throw new Error('no request was expected');
      },
      failed: () => true,
      learned: () => {},
      ...serviceFor(node),
    }),
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 }, {});
  onTestFinished(() => server.close());
  return { server, port, log };
}

/** Starts a node that calls the other one at a port. */
export function callingNode(
  port: number,
  { serving = SERVING, calling = CALLING, callingTls: tls }: Partial<PairOptions> = {},
) {
  const log: LogEntry[] = [];
  const heads: (readonly [slice: number, off: number])[] = [];
  const learned: unknown[] = [];
  let looks = 0;
  const nodes = new RemoteNodes({
    self: () => calling,
    tls,
    unsent: ampleBudget(),
    log: (entry) => log.push(entry),
    callbacks: {
      learned: (failure) => learned.push(failure),
      head: (slice, off) => heads.push([slice, off]),
      look: () => looks++,
    },
  });
  onTestFinished(() => nodes.close());
  nodes.setNodes([{ number: serving.number, uid: serving.uid, host: '127.0.0.1', port }]);
  const connected = async (): Promise<PeerProtocol> => {
    await until('the connection', () => nodes.peer(serving.number) !== undefined);
    return nodes.peer(serving.number)!;
  };
  return { nodes, log, heads, learned, looks: () => looks, connected };
}

export async function remotePair(options: Partial<PairOptions> = {}) {
  const serving = await servingNode(options);
  const calling = callingNode(serving.port, options);
  return { serving, calling, peer: await calling.connected() };
}
