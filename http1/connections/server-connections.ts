// The connections that a server has accepted: their number, the number of their requests, and how they all end.
import type { ConnectionOwner } from './connection-owner.ts';
import { ServerConnection } from './server-connection.ts';
import type { ServerHandler } from './server-handler.ts';
import type { ServerLimits, ServerTimes } from './server-limits.ts';
import type { ByteSocket, Transport } from './socket-end.ts';
import type { Sweep } from './sweep.ts';

export interface ServerOptions {
  readonly handler: ServerHandler;
  readonly limits: ServerLimits;
  readonly times: ServerTimes;
  readonly sweep: Sweep;
  /** Responses tell clients how long a connection may idle, in the field Keep-Alive. */
  readonly announcesIdleTime?: boolean;
}

export class ServerConnections implements ConnectionOwner<ServerConnection> {
  readonly handler: ServerHandler;
  readonly limits: ServerLimits;
  readonly times: ServerTimes;
  readonly sweep: Sweep;
  readonly keepAlive: string | undefined;
  readonly #open = new Set<ServerConnection>();
  #requests = 0;
  #headBytes = 0;
  #isStopping = false;
  #whenEmpty: (() => void)[] = [];

  constructor(options: ServerOptions) {
    this.handler = options.handler;
    this.limits = options.limits;
    this.times = options.times;
    this.sweep = options.sweep;
    const seconds = Math.floor(options.times.idleMs / 1000);
    if (options.announcesIdleTime === true && seconds > 0) this.keepAlive = `timeout=${seconds}`;
  }

  /** Open connections. */
  get count(): number {
    return this.#open.size;
  }

  /** Requests whose response is not complete. */
  get requestsInFlight(): number {
    return this.#requests;
  }

  /** Takes a socket, or closes it if there are too many. `transport`: with which it can be reset. */
  accept(socket: ByteSocket, transport?: Transport): void {
    if (this.#open.size >= this.limits.connectionsMax) {
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    // A client that has closed its side still gets its responses.
    socket.allowHalfOpen = true;
    const connection = new ServerConnection(this, socket, transport);
    this.#open.add(connection);
    if (this.#isStopping) connection.retire();
  }

  /**
   * Lets the connections that `chooses` selects close after their current response. One whose client cannot know that yet
   * serves one more request, or closes after `retiredIdleMs` without one.
   */
  finish(chooses: (connection: ServerConnection) => boolean): void {
    for (const connection of this.#open) if (chooses(connection)) connection.finish();
  }

  /** Lets all connections close after their current response, also those that are accepted from now on. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#open) connection.retire();
  }

  /** Closes the connections on which no response is due. */
  closeIdle(): void {
    for (const connection of this.#open) if (connection.isIdle) connection.close();
  }

  /** Breaks all connections off. Returns whether a response was due on one of them. */
  cut(): boolean {
    let hasCut = false;
    for (const connection of this.#open) {
      hasCut ||= !connection.isIdle;
      connection.cut();
    }
    return hasCut;
  }

  [Symbol.iterator](): Iterator<ServerConnection> {
    return this.#open.values();
  }

  /** Resolves when no connection is open. */
  async empty(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
  }

  // Called by the connections.

  requestBegan(): boolean {
    this.#requests += 1;
    return this.#requests <= this.limits.requestsMax;
  }

  requestsEnded(count: number): void {
    this.#requests -= count;
  }

  headBytesChanged(by: number): boolean {
    this.#headBytes += by;
    return this.#headBytes <= this.limits.unfinishedHeadBytesMax;
  }

  closed(connection: ServerConnection): void {
    this.#open.delete(connection);
    if (this.#open.size > 0) return;
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}
