// The program's part of a server: it answers requests.
import type { RequestHead } from '../messages/heads.ts';
import type { ServerExchange } from './server-exchange.ts';
import type { Refusal, WholeResponse } from './whole-responses.ts';

export interface ServerHandler {
  /** Takes a request. Has to call `receive` of a request with a body, or answer it. */
  request(exchange: ServerExchange): void;
  /** Composes the answer to a request that is refused. `head`: undefined if the head was not readable. */
  refused(refusal: Refusal, head: RequestHead | undefined): WholeResponse;
}
