// RouteServer: the socket at which an orchestrator gives its routers the table of routes, and lets them hold the requests of a service.
//
// Invariants
// - Only the user of the orchestrator reaches the socket: its permissions are 0600.
// - A router that sends what is no message, that names itself too late, or that reads too slowly, loses its connection, and no other
//   router notices.
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LineReader } from './line-reader.ts';
import { lineOf, parseRouterMessage } from './messages.ts';
import {
  type ConnectionId,
  type CoordinatorEffect,
  RouteCoordinator,
  type Started,
  type WaitId,
} from './route-coordinator.ts';
import { parseRouteTable, type RouteTable } from './route-table.ts';
import { ROUTING_LIMITS, ROUTING_TIMES, type RoutingTimes } from './routing-limits.ts';

export interface Settled {
  /** Names of the routers that have not acknowledged in time. */
  readonly missing: readonly string[];
}

export interface StartedHold {
  /** Resolves once no router sends the service a request, and the last one is answered. */
  readonly settled: Promise<Settled>;
  /** Lets requests go to the service again. */
  readonly release: () => void;
}

export class RouteServer {
  readonly #server: Server;
  readonly #path: string;
  readonly #times: RoutingTimes;
  readonly #coordinator: RouteCoordinator;
  readonly #sockets = new Map<ConnectionId, Socket>();
  readonly #waits = new Map<WaitId, (settled: Settled) => void>();
  #timer: NodeJS.Timeout | undefined;
  #lastConnection = 0;

  private constructor(path: string, times: RoutingTimes) {
    this.#path = path;
    this.#times = times;
    this.#coordinator = new RouteCoordinator(times);
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = ROUTING_LIMITS.routersMax;
  }

  /**
   * Listens at the path, which should be in a folder of the user alone. The socket of a process that has ended is replaced. Rejects with
   * the error of the system, EADDRINUSE if another process listens there.
   */
  static async listen(path: string, times: RoutingTimes = ROUTING_TIMES): Promise<RouteServer> {
    if (!(await isListening(path))) rmSync(path, { force: true });
    const server = new RouteServer(path, times);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(path, resolve);
    });
    chmodSync(path, 0o600);
    return server;
  }

  /** Number of routers that are connected, or were a moment ago. */
  get routers(): number {
    return this.#coordinator.routers;
  }

  /**
   * Replaces the services of the table. Resolves once no router uses an earlier one. Throws an error if the services break the rules of a
   * table.
   */
  publish(services: RouteTable['services']): Promise<Settled> {
    const parsed = parseRouteTable({ version: 0, services });
    if ('problem' in parsed)
      throw new Error(`The services are no table of routes: ${parsed.problem}`);
    if (JSON.stringify(services).length > ROUTING_LIMITS.servicesBytesMax)
      throw new Error('The services are no table of routes: they are too large');
    return this.#follow(this.#coordinator.publish(parsed.services, now()));
  }

  /** Lets the routers hold the requests of a service, `<project>/<service>`. */
  hold(key: string): StartedHold {
    const started = this.#coordinator.hold(key, now());
    const settled = this.#follow(started);
    return { settled, release: () => this.#perform(this.#coordinator.release(started.hold)) };
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets.values()) socket.destroy();
    await closed;
    rmSync(this.#path, { force: true });
    for (const resolve of this.#waits.values()) resolve({ missing: [] });
    this.#waits.clear();
  }

  #follow({ wait, effects }: Started): Promise<Settled> {
    const { promise, resolve } = Promise.withResolvers<Settled>();
    this.#waits.set(wait, resolve);
    this.#perform(effects);
    return promise;
  }

  #accept(socket: Socket): void {
    const connection = ++this.#lastConnection;
    const reader = new LineReader(ROUTING_LIMITS.routerLineBytesMax);
    const hello = setTimeout(() => socket.destroy(), this.#times.helloMs);
    this.#sockets.set(connection, socket);
    socket.on('data', (chunk: Buffer) => {
      const lines = reader.push(chunk);
      if (lines === undefined) socket.destroy();
      for (const line of lines ?? []) {
        if (socket.destroyed) return;
        this.#receive(connection, line, hello);
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(hello);
      this.#sockets.delete(connection);
      this.#coordinator.leave(connection, now());
      this.#schedule();
    });
  }

  #receive(connection: ConnectionId, line: string, hello: NodeJS.Timeout): void {
    const message = parseRouterMessage(line);
    if (message === undefined) this.#perform([{ kind: 'cut', connection }]);
    else if (message.type === 'hello') {
      clearTimeout(hello);
      this.#perform(this.#coordinator.join(message.name, connection));
    } else if (message.type === 'applied')
      this.#perform(this.#coordinator.applied(connection, message.version));
    else this.#perform(this.#coordinator.held(connection, message.id));
  }

  #perform(effects: readonly CoordinatorEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'settled') {
        this.#waits.get(effect.wait)?.({ missing: effect.missing });
        this.#waits.delete(effect.wait);
      } else if (effect.kind === 'cut') this.#sockets.get(effect.connection)?.destroy();
      else {
        const socket = this.#sockets.get(effect.to);
        socket?.write(lineOf(effect.message));
        if ((socket?.writableLength ?? 0) > ROUTING_LIMITS.unsentBytesMax) socket?.destroy();
      }
    }
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const { deadlineMs } = this.#coordinator;
    if (deadlineMs === undefined) return;
    const wake = (): void => this.#perform(this.#coordinator.advance(now()));
    this.#timer = setTimeout(wake, Math.max(1, Math.ceil(deadlineMs - now())));
    this.#timer.unref();
  }
}

/** Milliseconds of a clock that is not set. */
function now(): number {
  return performance.now();
}

async function isListening(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path, () => resolve(true));
  socket.on('error', ({ code }: NodeJS.ErrnoException) =>
    resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
  );
  const found = await promise;
  socket.destroy();
  return found;
}
