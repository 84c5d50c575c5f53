// A server under test, whose clock stands still unless the test moves it.
import { createServer, type Server } from 'node:net';
import { onTestFinished } from 'vitest';
import { serveListener } from '../../../http1/connections/listener.ts';
import type { BodyReceiver } from '../../../http1/connections/body.ts';
import type { Refusal, WholeResponse } from '../../../http1/connections/whole-responses.ts';
import { ServerConnections } from '../../../http1/connections/server-connections.ts';
import type { ServerExchange } from '../../../http1/connections/server-exchange.ts';
import {
  DEFAULT_SERVER_LIMITS,
  DEFAULT_SERVER_TIMES,
  type ServerLimits,
  type ServerTimes,
} from '../../../http1/connections/server-limits.ts';
import { Sweep } from '../../../http1/connections/sweep.ts';
import { within } from '../../support/within.ts';
import { dial, listening, RawPeer } from './raw-peer.ts';

export class ManualClock {
  nowMs = 1_000;
  readonly sweep = new Sweep(1_000_000, () => this.nowMs);

  advance(ms: number): void {
    this.nowMs += ms;
    this.sweep.run();
  }
}

/** Records a body. */
export class Recorded implements BodyReceiver {
  text = '';
  trailers: readonly string[] | undefined;
  failure: string | undefined;
  readonly over: Promise<void>;
  #over!: () => void;

  constructor() {
    this.over = new Promise((resolve) => {
      this.#over = resolve;
    });
  }

  data(bytes: Buffer): void {
    this.text += bytes.toString('latin1');
  }

  end(trailers: { readonly flat: readonly string[] }): void {
    this.trailers = trailers.flat;
    this.#over();
  }

  broken({ code }: { readonly code: string }): void {
    this.failure = code;
    this.#over();
  }
}

export interface Seen {
  readonly exchange: ServerExchange;
  readonly body: Recorded;
  isGone: boolean;
}

export function answer(
  exchange: ServerExchange,
  text: string,
  fields: readonly string[] = [],
): void {
  const body = Buffer.from(text, 'latin1');
  exchange.respond(200, 'OK', fields, { kind: 'length', bytes: body.length }).write(body);
}

/** The whole answer, with its end. */
export function answerWhole(exchange: ServerExchange, text: string): void {
  const body = Buffer.from(text, 'latin1');
  const sink = exchange.respond(200, 'OK', [], { kind: 'length', bytes: body.length });
  sink.write(body);
  sink.end();
}

export class Served {
  readonly clock = new ManualClock();
  readonly seen: Seen[] = [];
  readonly connections: ServerConnections;
  /** Called for each request, after it was noted. */
  onRequest: (exchange: ServerExchange, body: Recorded) => void = () => undefined;
  /** Whether the harness receives bodies by itself. */
  receives = true;
  port = 0;
  #waiting = new Set<() => void>();

  constructor(
    limits: Partial<ServerLimits> = {},
    times: Partial<ServerTimes> = {},
    announcesIdleTime = false,
  ) {
    this.connections = new ServerConnections({
      handler: {
        request: (exchange) => this.#request(exchange),
        refused: (refusal) => refusedAnswer(refusal),
      },
      limits: { ...DEFAULT_SERVER_LIMITS, ...limits },
      times: { ...DEFAULT_SERVER_TIMES, ...times },
      sweep: this.clock.sweep,
      announcesIdleTime,
    });
  }

  /** `server`: a listener of `node:tls`, for example. */
  async listen(server: Server = createServer()): Promise<this> {
    serveListener(server, this.connections);
    this.port = await listening(server);
    onTestFinished(() => void this.connections.cut());
    return this;
  }

  async dial(): Promise<RawPeer> {
    return await dial(this.port);
  }

  /** Waits for the request of this number, from 0. */
  async request(index: number): Promise<Seen> {
    await this.until(() => this.seen.length > index, `request ${index}`);
    return this.seen[index]!;
  }

  async until(isSo: () => boolean, awaited: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const met = new Promise<void>((resolve) => {
      const look = (): void => {
        if (isSo()) resolve();
      };
      this.#waiting.add(look);
      timer = setInterval(look, 5);
      look();
    });
    await within(20, awaited, met).finally(() => clearInterval(timer));
  }

  #request(exchange: ServerExchange): void {
    const seen: Seen = { exchange, body: new Recorded(), isGone: false };
    exchange.onGone = () => {
      seen.isGone = true;
    };
    this.seen.push(seen);
    if (this.receives) exchange.receive(seen.body);
    this.onRequest(exchange, seen.body);
    for (const look of this.#waiting) look();
  }
}

export function refusedAnswer({ status, code }: Refusal): WholeResponse {
  return {
    status,
    reason: 'Refused',
    fields: ['X-Refused', code],
    body: Buffer.from(`{"error":"${code}"}`),
  };
}
