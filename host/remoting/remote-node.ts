// RemoteNode keeps a connection to one other node, on which this node calls its entities. When it ends, or cannot be made, it is made
// again after a pause that grows.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '@svc/kit/log';
import { PeerProtocol, type PeerProtocolOptions } from '../shards/peer-protocol.ts';
import type { Scalar } from './flat-list.ts';
import { ConnectionTimers } from './connection-timers.ts';
import { helloProblem, helloTo, type NodeIdentity, type NodeName, readHello } from './handshake.ts';
import { MessageConnection } from './message-connection.ts';
import { RefusedMessage } from './refused-message.ts';
import type { RemotingBytes } from './remoting-bytes.ts';
import type { RemotingTls } from './remoting-tls.ts';
import { HANDSHAKE_MS, TLS_DIFFERS, WAITING_UNITS_MAX } from './remoting-limits.ts';
import { SocketTransport } from './socket-transport.ts';

/** A member of the cluster, and the address of its remoting port. */
export interface RemoteMember extends NodeName {
  readonly host: string;
  readonly port: number;
}

/** Receives what another node sends beside the answers of calls. */
export type NodeCallbacks = Pick<PeerProtocolOptions, 'learned' | 'head' | 'look'>;

export interface RemoteNodeOptions {
  readonly member: RemoteMember;
  readonly bytes: RemotingBytes;
  /** This node at the moment. */
  readonly self: () => NodeIdentity;
  /** TLS of the connection; undefined: it is plain. */
  readonly tls: RemotingTls | undefined;
  readonly callbacks: NodeCallbacks;
  /** Called whenever a connection is made. */
  readonly connected: () => void;
  /** Called when the connection has reached its age, so that another one has to be made. */
  readonly aged: () => void;
  readonly unsent: PeerProtocolOptions['unsent'];
  readonly log: Log;
}

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 2_000;
/** Time for calls in flight to be answered after the node has ceased to be a member, or has another connection, in milliseconds. Longer than any call may take by default. */
const RETIRED_MS_MAX = 180_000;
const RETIRED_LOOK_MS = 100;
const OUTDATED = 'was verified too long ago, or by an authority that was removed since';

export class RemoteNode {
  readonly #options: RemoteNodeOptions;
  /** Gives up the connection of TLS that is being made. */
  #cancel: (() => void) | undefined;
  #connection: MessageConnection | undefined;
  #protocol: PeerProtocol | undefined;
  #pauseMs = PAUSE_MS_MIN;
  #timer: NodeJS.Timeout | undefined;
  readonly #term = new ConnectionTimers();
  /** Why the last connection has ended or could not be made; undefined: the node can be reached, or was not tried yet. */
  #problem: string | undefined;
  #isClosed = false;

  constructor(options: RemoteNodeOptions) {
    this.#options = options;
    this.#connect();
  }

  get member(): RemoteMember {
    return this.#options.member;
  }

  /** The link on which entities of the node are called; undefined while there is no connection. */
  get peer(): PeerProtocol | undefined {
    return this.#protocol;
  }

  /** Whether the node was tried, and cannot be reached. */
  get isUnreachable(): boolean {
    return this.#problem !== undefined;
  }

  /**
   * Connects no more, and ends the connection when no call waits for an answer, or after RETIRED_MS_MAX. Resolves when it
   * is ended.
   */
  async retire(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const untilMs = performance.now() + RETIRED_MS_MAX;
    while ((this.#protocol?.callsInFlight ?? 0) > 0 && performance.now() < untilMs)
      await pause(RETIRED_LOOK_MS, undefined, { ref: false });
    this.close();
  }

  /** Ends the present connection after a time, unless it ends before. */
  endWithin(ms: number): void {
    const connection = this.#connection;
    if (connection !== undefined) this.#term.endWithin(ms, () => connection.refuse(OUTDATED));
  }

  /** Ends the connection at once. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#cancel?.();
    this.#connection?.close();
  }

  #connect(): void {
    const { member, tls } = this.#options;
    const { host, port } = member;
    if (tls === undefined) this.#introduce(connect({ host, port, noDelay: true }));
    else
      this.#cancel = tls.connect(member, (result) => {
        this.#cancel = undefined;
        if ('socket' in result) this.#introduce(result.socket);
        else this.#ended(result.problem);
      });
  }

  /** Sends the hello of this node, and waits for that of the other one. */
  #introduce(socket: Socket): void {
    const { member, bytes, self } = this.#options;
    const own = self();
    let isConnected = !socket.connecting;
    socket.once('connect', () => {
      isConnected = true;
    });
    let transport: SocketTransport | undefined;
    const connection = new MessageConnection({
      socket,
      bytes,
      received: (values) => {
        if (transport === undefined) transport = this.#established(connection, own, values);
        else transport.received(values);
        clearTimeout(handshake);
      },
      ended: ({ problem, isRefusal }) => {
        clearTimeout(handshake);
        this.#term.clear();
        this.#connection = undefined;
        this.#protocol = undefined;
        transport?.ended();
        const isEarly = transport === undefined && isConnected && !isRefusal;
        this.#ended(isEarly ? this.#earlyEnd : problem);
      },
    });
    this.#connection = connection;
    const handshake = setTimeout(() => connection.refuse('does not answer'), HANDSHAKE_MS).unref();
    connection.send(helloTo(own, member));
  }

  /** Why the other node has probably ended the connection without an answer to the hello. */
  get #earlyEnd(): string {
    const cause =
      this.#options.tls === undefined
        ? TLS_DIFFERS
        : 'it may not trust the certificate of this node';
    return `ended the connection before it introduced itself: ${cause}`;
  }

  /** Reads the hello of the other node. Throws RefusedMessage. */
  #established(
    connection: MessageConnection,
    own: NodeIdentity,
    values: readonly Scalar[],
  ): SocketTransport {
    const { member, callbacks, unsent, log } = this.#options;
    const theirs = readHello(values);
    const problem = helloProblem(theirs, own, member);
    if (problem !== undefined) throw new RefusedMessage(problem);
    connection.establish();
    const transport = new SocketTransport({
      connection,
      side: { serves: false, routes: undefined },
      sharesModule: theirs.fingerprint === own.fingerprint,
    });
    this.#protocol = new PeerProtocol(
      transport,
      {
        ...callbacks,
        serve: notServed,
        serveRequest: notServed,
        failed: () => false,
        unsent,
        ended: () => {},
        peer: 'node',
      },
      WAITING_UNITS_MAX,
    );
    this.#pauseMs = PAUSE_MS_MIN;
    this.#problem = undefined;
    log({ level: 'info', message: 'connected to another node', fields: this.#fields() });
    this.#age();
    this.#options.connected();
    return transport;
  }

  /** Begins the term of a connection with TLS. */
  #age(): void {
    const { tls, aged } = this.#options;
    if (tls === undefined) return;
    const { renewMs, endMs } = tls.ownTerm();
    this.#term.renewAfter(renewMs, aged);
    this.endWithin(endMs);
  }

  #ended(problem: string): void {
    if (this.#isClosed) return;
    if (problem !== this.#problem) {
      const fields = {
        code: 'SVC_REMOTING_FAILED',
        ...this.#fields(),
        reason: `the other side ${problem}`,
      };
      this.#options.log({ level: 'warn', message: 'another node cannot be reached', fields });
    }
    this.#problem = problem;
    this.#timer = setTimeout(() => this.#connect(), this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX);
  }

  #fields() {
    const { number, host, port } = this.#options.member;
    return { node: number, host, port };
  }
}

function notServed(): never {
  throw new Error('the side that connects serves no calls');
}
