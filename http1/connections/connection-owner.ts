// The server of connections, as each of them sees it.
import type { ServerHandler } from './server-handler.ts';
import type { ServerLimits, ServerTimes } from './server-limits.ts';
import type { Sweep } from './sweep.ts';

/** Server of the connections: their handler, their limits and their count. */
export interface ConnectionOwner<Connection> {
  readonly handler: ServerHandler;
  readonly limits: ServerLimits;
  readonly times: ServerTimes;
  readonly sweep: Sweep;
  /** Value of the field Keep-Alive of responses after which the connection stays open; undefined: they have none. */
  readonly keepAlive: string | undefined;
  /** Counts a request, in any case. Returns false if there are too many. */
  requestBegan(): boolean;
  requestsEnded(count: number): void;
  /** Counts the bytes of unfinished heads. Returns false if there are too many. */
  headBytesChanged(by: number): boolean;
  closed(connection: Connection): void;
}
