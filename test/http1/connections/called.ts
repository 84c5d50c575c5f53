// A client under test: a pool towards a listener of raw bytes, with a clock that stands still unless the test moves it.
import { onTestFinished } from 'vitest';
import type { ClientConnection } from '../../../http1/connections/client-connection.ts';
import type {
  ClientExchange,
  ResponseReceiver,
} from '../../../http1/connections/client-exchange.ts';
import type { ClientFailure } from '../../../http1/connections/client-failure.ts';
import {
  type ClientLimits,
  type ClientTimes,
  DEFAULT_CLIENT_LIMITS,
  DEFAULT_CLIENT_TIMES,
} from '../../../http1/connections/client-limits.ts';
import { tcpConnect } from '../../../http1/connections/connect.ts';
import { Pool, type Taken, type Taking } from '../../../http1/connections/pool.ts';
import type { FieldList } from '../../../http1/messages/field-list.ts';
import type { Framing } from '../../../http1/messages/framing.ts';
import type { ResponseHead } from '../../../http1/messages/heads.ts';
import { RawListener } from './raw-peer.ts';
import { ManualClock } from './served.ts';

/** Records a response in the order of its parts. */
export class Response implements ResponseReceiver {
  readonly log: string[] = [];
  text = '';
  response: ResponseHead | undefined;
  failure: ClientFailure | undefined;
  readonly over: Promise<void>;
  readonly begun: Promise<void>;
  #over!: () => void;
  #begun!: () => void;

  constructor() {
    this.over = new Promise((resolve) => {
      this.#over = resolve;
    });
    this.begun = new Promise((resolve) => {
      this.#begun = resolve;
    });
  }

  informational({ status }: ResponseHead): void {
    this.log.push(`${status}`);
  }

  head(head: ResponseHead): void {
    this.response = head;
    this.log.push(`${head.status}`);
    this.#begun();
  }

  data(bytes: Buffer): void {
    this.text += bytes.toString('latin1');
  }

  end(trailers: FieldList): void {
    this.log.push(['end', ...trailers.flat].join(' '));
    this.#over();
  }

  failed(failure: ClientFailure): void {
    this.failure = failure;
    this.log.push(failure.kind === 'protocol' ? failure.failure.code : failure.kind);
    this.#over();
  }
}

export class Called {
  readonly clock = new ManualClock();
  readonly limits: ClientLimits;
  readonly times: ClientTimes;
  listener!: RawListener;
  pool!: Pool;

  constructor(limits: Partial<ClientLimits> = {}, times: Partial<ClientTimes> = {}) {
    this.limits = { ...DEFAULT_CLIENT_LIMITS, ...limits };
    this.times = { ...DEFAULT_CLIENT_TIMES, ...times };
  }

  async listen(): Promise<this> {
    this.listener = await new RawListener().listen();
    this.pool = this.poolTo(this.listener.port);
    return this;
  }

  poolTo(port: number): Pool {
    const { limits, times } = this;
    const { sweep } = this.clock;
    const connect = tcpConnect({ host: '127.0.0.1', port }, times.connectMs, sweep);
    const pool = new Pool({ connect, limits, times, sweep });
    onTestFinished(() => pool.close());
    return pool;
  }

  async take(taking: Taking = {}, pool = this.pool): Promise<ClientConnection> {
    const { connection, failure } = await this.tryTake(taking, pool);
    if (connection === undefined) throw new Error(`no connection: ${failure?.kind}`);
    return connection;
  }

  async tryTake(
    taking: Taking = {},
    pool = this.pool,
  ): Promise<{ connection: ClientConnection | undefined; failure?: ClientFailure }> {
    return await new Promise<Taken>((resolve) => {
      pool.take(taking, resolve);
    });
  }

  /** Sends a request as soon as there is a connection. */
  async send(
    method: string,
    body?: { readonly text: string; readonly framing: Framing; readonly isOpen?: boolean },
    taking: Taking = {},
  ): Promise<{ exchange: ClientExchange; response: Response; connection: ClientConnection }> {
    const response = new Response();
    return await new Promise((resolve, reject) => {
      this.pool.take(taking, ({ connection, ...rest }) => {
        if (connection === undefined) {
          reject(new Error(JSON.stringify(rest)));
          return;
        }
        const framing = body?.framing ?? { kind: 'none' };
        const request = {
          method,
          target: '/',
          version: '1.1',
          fields: ['Host', 'a'],
          framing,
        } as const;
        const exchange = connection.send(request, response);
        if (body !== undefined && body.text !== '')
          exchange.body.write(Buffer.from(body.text, 'latin1'));
        if (body?.isOpen !== true) exchange.body.end();
        resolve({ exchange, response, connection });
      });
    });
  }
}
