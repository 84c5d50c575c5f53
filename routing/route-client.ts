// RouteClient: a router's connection to its orchestrator, which begins again whenever it ends. Without an orchestrator the router keeps
// the last table.
//
// Invariants
// - A hold ends at the latest after `holdMs`, whatever happens to the orchestrator.
// - What is acknowledged is acknowledged on the connection on which it came.
// - A table is acknowledged once the last request is answered at each instance that it does not have, and after `leaveMs` at the latest.
import { connect, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { LineReader } from './line-reader.ts';
import {
  type Hold,
  lineOf,
  parseOrchestratorMessage,
  PROTOCOL,
  type RouterMessage,
} from './messages.ts';
import type { RouteTable } from './route-table.ts';
import { type RouterChange, RouterState } from './router-state.ts';
import { ROUTING_LIMITS, ROUTING_TIMES, type RoutingTimes } from './routing-limits.ts';

/** Callbacks of a router, by which it follows its orchestrator. */
export interface Router {
  /** No request is sent by an earlier table once the call returns. */
  readonly use: (table: RouteTable) => void;
  /** Resolves once no request is under way at an instance that the table in use does not have; undefined: none is. */
  readonly left?: () => Promise<void> | undefined;
  /** Sends the service no request from now on. Resolves once the last one is answered. Called again for each further hold. */
  readonly hold: (key: string) => Promise<void>;
  /** Sends the service requests again. */
  readonly release: (key: string) => void;
  /** The connection has begun or ended. */
  readonly connected?: (isConnected: boolean) => void;
  /** Nobody listens at the path, which is tried again. */
  readonly unreachable?: () => void;
}

export class RouteClient {
  readonly #path: string;
  readonly #router: Router;
  readonly #times: RoutingTimes;
  readonly #name = randomUUID();
  readonly #state = new RouterState();
  readonly #holdTimers = new Map<number, NodeJS.Timeout>();
  #socket: Socket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #pauseMs: number;
  #isConnected = false;
  #isClosed = false;

  /** Connects to the socket at the path, at once and whenever the connection has ended. */
  constructor(path: string, router: Router, times: RoutingTimes = ROUTING_TIMES) {
    this.#path = path;
    this.#router = router;
    this.#times = times;
    this.#pauseMs = times.reconnectMs[0];
    this.#connect();
  }

  /** Ends the connection. Holds end with it, without a call of `release`. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    for (const timer of this.#holdTimers.values()) clearTimeout(timer);
    this.#holdTimers.clear();
    this.#socket?.destroy();
  }

  #connect(): void {
    const socket = connect(this.#path);
    const reader = new LineReader(ROUTING_LIMITS.tableBytesMax);
    this.#socket = socket;
    socket.on('connect', () => {
      this.#isConnected = true;
      this.#router.connected?.(true);
      send(socket, { type: 'hello', protocol: PROTOCOL, name: this.#name });
    });
    socket.on('data', (chunk: Buffer) => {
      const lines = reader.push(chunk);
      if (lines === undefined) socket.destroy();
      for (const line of lines ?? []) {
        if (socket.destroyed) return;
        this.#receive(socket, line);
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#connectLater(socket.bytesRead > 0));
  }

  #connectLater(wasAnswered: boolean): void {
    const [first, longest] = this.#times.reconnectMs;
    if (wasAnswered) this.#pauseMs = first;
    if (this.#isConnected) this.#router.connected?.(false);
    else this.#router.unreachable?.();
    this.#isConnected = false;
    if (this.#isClosed) return;
    this.#retry = setTimeout(() => this.#connect(), this.#pauseMs);
    this.#pauseMs = Math.min(longest, this.#pauseMs * 2);
  }

  /** A message that does not fit ends the connection: the next one begins with a snapshot. */
  #receive(socket: Socket, line: string): void {
    const message = parseOrchestratorMessage(line);
    const change = message && this.#state.receive(message);
    if (message === undefined || change === undefined) {
      socket.destroy();
      return;
    }
    if (message.type === 'release') this.#clearTimer(message.id);
    // Another orchestrator may use the same number for another hold, so the times of all begin with its snapshot.
    if (message.type === 'snapshot') for (const id of this.#holdTimers.keys()) this.#clearTimer(id);
    this.#follow(socket, change);
  }

  #follow(socket: Socket, { table, begun, released }: RouterChange): void {
    // Holds first: the table must not send to an instance that a hold of the same snapshot keeps from requests.
    for (const hold of begun) void this.#begin(socket, hold);
    if (table !== undefined) void this.#use(socket, table);
    for (const key of released) this.#router.release(key);
  }

  async #use(socket: Socket, table: RouteTable): Promise<void> {
    this.#router.use(table);
    const left = this.#router.left?.();
    if (left !== undefined) await this.#settledOrLate(left);
    send(socket, { type: 'applied', version: table.version });
  }

  async #settledOrLate(left: Promise<void>): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, this.#times.leaveMs).unref();
    await Promise.race([left, late.promise]);
    clearTimeout(timer);
  }

  async #begin(socket: Socket, { id, key }: Hold): Promise<void> {
    if (!this.#holdTimers.has(id))
      this.#holdTimers.set(
        id,
        setTimeout(() => this.#expire(id), this.#times.holdMs),
      );
    await this.#router.hold(key);
    send(socket, { type: 'held', id });
  }

  #expire(id: number): void {
    this.#holdTimers.delete(id);
    for (const key of this.#state.release(id).released) this.#router.release(key);
  }

  #clearTimer(id: number): void {
    clearTimeout(this.#holdTimers.get(id));
    this.#holdTimers.delete(id);
  }
}

function send(socket: Socket, message: RouterMessage): void {
  if (socket.writable) socket.write(lineOf(message));
}
