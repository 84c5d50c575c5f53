// The program's part of a server: it answers requests.
import type { FailureStatus, MessageFailure } from '../messages/failure.ts';
import type { RequestHead } from '../messages/heads.ts';
import type { ServerExchange } from './server-exchange.ts';

/** Why the connection itself answers a request. */
export interface Refusal {
  readonly code: MessageFailure['code'] | 'too-many-requests';
  readonly status: FailureStatus | 503;
  /** A sentence for people. */
  readonly reason: string;
}

export interface WholeResponse {
  readonly status: number;
  readonly reason: string;
  /** Name, value, name, value and so on, without Connection. */
  readonly fields: readonly string[];
  /** A text is latin1: a byte for each character. */
  readonly body: Buffer | string;
}

export interface ServerHandler {
  /** Takes a request. Has to call `receive` of a request with a body, or answer it. */
  request(exchange: ServerExchange): void;
  /** Composes the answer to a request that is refused. `head`: undefined if the head was not readable. */
  refused(refusal: Refusal, head: RequestHead | undefined): WholeResponse;
}
