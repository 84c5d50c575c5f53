// AcceptedConnection is a connection that another node has made to this one: the handshake, and then the calls and requests of that
// node, which this node serves.
import type { Socket } from 'node:net';
import { PeerProtocol, type PeerProtocolOptions } from '../shards/peer-protocol.ts';
import type { Scalar } from './flat-list.ts';
import {
  type Hello,
  helloProblem,
  helloTo,
  type NodeIdentity,
  readHello,
  refusalOf,
} from './handshake.ts';
import { type ConnectionEnd, MessageConnection } from './message-connection.ts';
import { RefusedMessage } from './refused-message.ts';
import type { RemotingBytes } from './remoting-bytes.ts';
import { HANDSHAKE_MS } from './remoting-limits.ts';
import { SocketTransport } from './socket-transport.ts';

/** The node at the other end, for the code that serves its calls. */
export interface CallingNode extends NodeIdentity {
  /** Names the last record of a slice that is on disk; the answer that is returned next comes after it. */
  sendHead(slice: number, off: number): void;
}

export interface AcceptedConnectionOptions {
  readonly socket: Socket;
  readonly bytes: RemotingBytes;
  /** This node at the moment. */
  readonly self: () => NodeIdentity;
  /** Number of parameters in the path of each route of the module. */
  readonly routes: readonly number[];
  readonly protocolOptions: (node: CallingNode) => PeerProtocolOptions;
  /** Called when the handshake succeeds. Returns why the connection is not taken after all; undefined: it is. */
  readonly established: () => string | undefined;
  /** Called when the connection has ended. */
  readonly ended: (end: ConnectionEnd) => void;
}

export class AcceptedConnection {
  readonly #options: AcceptedConnectionOptions;
  readonly #connection: MessageConnection;
  readonly #handshake: NodeJS.Timeout;
  #transport: SocketTransport | undefined;
  #protocol: PeerProtocol | undefined;

  constructor(options: AcceptedConnectionOptions) {
    this.#options = options;
    const { socket, bytes } = options;
    this.#connection = new MessageConnection({
      socket,
      bytes,
      received: (values) => {
        if (this.#transport === undefined) this.#greet(values);
        else this.#transport.received(values);
      },
      ended: (end) => {
        clearTimeout(this.#handshake);
        this.#transport?.ended();
        options.ended(end);
      },
    });
    this.#handshake = setTimeout(
      () => this.refuse('does not introduce itself'),
      HANDSHAKE_MS,
    ).unref();
  }

  get socket(): Socket {
    return this.#options.socket;
  }

  /** Whether the handshake is done. */
  get isEstablished(): boolean {
    return this.#transport !== undefined;
  }

  sendLook(): void {
    this.#protocol?.sendLook();
  }

  /** Ends the connection at once. `problem`: the rest of a sentence that begins with "the other side". */
  refuse(problem: string): void {
    this.#connection.refuse(problem);
  }

  /** Ends the connection at once. */
  close(): void {
    this.#connection.close();
  }

  #greet(values: readonly Scalar[]): void {
    const self = this.#options.self();
    let theirs: Hello;
    try {
      theirs = readHello(values);
    } catch (error) {
      // A node of another version is to learn why it is refused.
      this.#connection.refuseWith(refusalOf(reasonOf(error)), reasonOf(error));
      return;
    }
    const problem = helloProblem(theirs, self, undefined) ?? this.#options.established();
    if (problem !== undefined) {
      this.#connection.refuseWith(refusalOf(problem), problem);
      return;
    }
    clearTimeout(this.#handshake);
    this.#connection.send(helloTo(self, theirs));
    this.#connection.establish();
    this.#serve(theirs, theirs.fingerprint === self.fingerprint);
  }

  #serve(theirs: Hello, sharesModule: boolean): void {
    const { routes, protocolOptions } = this.#options;
    const { cluster, number, uid, version, fingerprint } = theirs;
    this.#transport = new SocketTransport({
      connection: this.#connection,
      side: { serves: true, routes: sharesModule ? routes : undefined },
      sharesModule,
    });
    const sendHead = (slice: number, off: number): void => this.#protocol?.sendHead(slice, off);
    const node = { cluster, number, uid, version, fingerprint, sendHead };
    this.#protocol = new PeerProtocol(this.#transport, protocolOptions(node));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof RefusedMessage) return error.message;
  throw error;
}
