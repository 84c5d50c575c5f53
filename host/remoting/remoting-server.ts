// RemotingServer listens on the remoting port, and serves the calls and requests of other nodes. Anybody can connect, so
// connections, handshakes and memory are bounded (remoting-limits.ts).
//
// Invariants
// - A connection that has not finished its handshake never keeps a node out: the oldest of them is ended for a new one.
// - Connections do not wait for one another: each is read as fast as its messages arrive.
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@svc/kit/log';
import { listen, type ListenAddress, type ListenWords } from '@svc/kit/listen';
import type { PeerProtocolOptions } from '../shards/peer-protocol.ts';
import { AcceptedConnection, type CallingNode } from './accepted-connection.ts';
import type { NodeIdentity } from './handshake.ts';
import { RemotingBytes } from './remoting-bytes.ts';
import type { RemotingTls } from './remoting-tls.ts';
import { CONNECTIONS_MAX, HANDSHAKES_MAX, type RemotingBounds } from './remoting-limits.ts';
import { ServedUnits, unitsOfCall, unitsOfRequest } from './served-units.ts';

/** A node that stops waits for so long without a call of another one, and at most for so long in all, in milliseconds. */
const QUIET_MS = 200;
const QUIET_MS_MAX = 1_500;
const QUIET_LOOK_MS = 20;

/** Serves the calls and requests of one other node. */
export type NodeService = Pick<
  PeerProtocolOptions,
  'serve' | 'serveRequest' | 'failed' | 'learned' | 'look'
>;

/** A connection whose handshake is not done. */
type Beginning = Pick<AcceptedConnection, 'refuse' | 'close'>;

export interface RemotingServerOptions {
  /** This node at the moment. */
  readonly self: () => NodeIdentity;
  /** Number of parameters in the path of each route of the module, indexed by route. */
  readonly routes: readonly number[];
  /** TLS of the connections; undefined: they are plain. */
  readonly tls: RemotingTls | undefined;
  /** Called for each connection of another node. */
  readonly serviceFor: (node: CallingNode) => NodeService;
  /** Budget, shared by all shards, for the bytes held for callers until they have received their responses. */
  readonly unsent: PeerProtocolOptions['unsent'];
  /** Anybody who can reach the port can cause lines, so give a log that is limited. */
  readonly log: Log;
  /** Absent: REMOTING_BOUNDS. */
  readonly bounds?: RemotingBounds | undefined;
}

export class RemotingServer {
  readonly #options: RemotingServerOptions;
  readonly #server: Server;
  readonly #bytes: RemotingBytes;
  readonly #served: ServedUnits;
  /** Connections whose handshake is not done, the oldest first. */
  readonly #handshakes = new Set<Beginning>();
  readonly #established = new Set<AcceptedConnection>();
  /** When another node has called last. */
  #calledMs = 0;

  constructor(options: RemotingServerOptions) {
    this.#options = options;
    this.#bytes = new RemotingBytes(options.bounds);
    this.#served = new ServedUnits(this.#bytes.bounds.servedUnitsMax);
    this.#server =
      options.tls?.createServer({
        begun: (connection) => this.#began(connection),
        ended: (connection, end) => {
          this.#handshakes.delete(connection);
          if (end.kind === 'secured') this.#accept(end.socket);
          else if (end.isRefusal) this.#refused(connection.address, end.problem);
        },
        outdated: (socket, problem) => {
          for (const connection of this.#established)
            if (connection.socket === socket) connection.refuse(problem);
        },
      }) ?? createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  /** Number of connections whose handshake is done. */
  get connections(): number {
    return this.#established.size;
  }

  /** Number of connections whose handshake is not done. */
  get handshakes(): number {
    return this.#handshakes.size;
  }

  /** Memory that is held for connections. */
  get bytes(): Readonly<RemotingBytes> {
    return this.#bytes;
  }

  /** Listens, and resolves with the actual address. Rejects with SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE. */
  async listen(address: ListenAddress, words: ListenWords): Promise<ListenAddress> {
    const bound = await listen(this.#server, address, words);
    // The system refuses a connection, for example because it has no file descriptor left.
    this.#server.on('error', (error: NodeJS.ErrnoException) =>
      this.#options.log({
        level: 'error',
        message: 'a connection of another node could not be accepted',
        fields: { reason: error.code ?? error.message },
      }),
    );
    return bound;
  }

  /** Reports to all connected nodes that owners of slices have changed. */
  sendLook(): void {
    for (const connection of this.#established) connection.sendLook();
  }

  /**
   * Resolves once other nodes have their answers and make no further calls, after QUIET_MS_MAX at the latest: they may learn only from
   * refusals that nothing belongs to this node any more, and would not know what has become of a call when its connection ends.
   */
  async quiet(): Promise<void> {
    const startMs = performance.now();
    this.#calledMs = startMs;
    const isQuiet = (nowMs: number): boolean =>
      this.#established.size === 0 ||
      nowMs - startMs >= QUIET_MS_MAX ||
      (this.#served.units === 0 && nowMs - this.#calledMs >= QUIET_MS);
    // oxlint-disable-next-line no-await-in-loop -- a look follows the other
    while (!isQuiet(performance.now())) await delay(QUIET_LOOK_MS);
  }

  /** Ends all connections, and resolves when the port is free. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const connection of [...this.#handshakes, ...this.#established]) connection.close();
    await closed;
  }

  #accept(socket: Socket): void {
    const { self, routes } = this.#options;
    const address = socket.remoteAddress ?? '';
    const connection: AcceptedConnection = new AcceptedConnection({
      socket,
      bytes: this.#bytes,
      self,
      routes,
      protocolOptions: (node) => this.#protocolOptions(node),
      established: () => {
        if (this.#established.size >= CONNECTIONS_MAX)
          return `makes another connection, and ${CONNECTIONS_MAX} are open`;
        this.#handshakes.delete(connection);
        this.#established.add(connection);
        return undefined;
      },
      ended: ({ problem, isRefusal }) => {
        this.#handshakes.delete(connection);
        this.#established.delete(connection);
        if (isRefusal) this.#refused(address, problem);
      },
    });
    this.#began(connection);
  }

  #began(connection: Beginning): void {
    const [oldest] = this.#handshakes;
    if (this.#handshakes.size >= HANDSHAKES_MAX) {
      oldest!.refuse('does not introduce itself');
      // Its socket is closed later, and another connection may begin before.
      this.#handshakes.delete(oldest!);
    }
    this.#handshakes.add(connection);
  }

  #refused(address: string, problem: string): void {
    this.#options.log({
      level: 'warn',
      message: 'a connection to the remoting port was ended',
      fields: { code: 'SVC_REMOTING_FAILED', address, reason: `the other side ${problem}` },
    });
  }

  #protocolOptions(node: CallingNode): PeerProtocolOptions {
    const { serviceFor, unsent } = this.#options;
    const { serve, serveRequest, ...callbacks } = serviceFor(node);
    return {
      ...callbacks,
      unsent,
      peer: 'node',
      ended: () => {},
      serve: (call) => {
        this.#calledMs = performance.now();
        return this.#served.during(unitsOfCall(call), () => serve(call));
      },
      serveRequest: (request, metadata, served) => {
        this.#calledMs = performance.now();
        return this.#served.during(unitsOfRequest(request, metadata), () =>
          serveRequest(request, metadata, served),
        );
      },
    };
  }
}
