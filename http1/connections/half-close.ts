// HalfClose: a client that has ended its side of the connection, and waits for its response or has left. TCP reports both in the
// same way. Only bytes that are sent to the client show the difference: one that has left answers them with a reset.
//
// A client whose response has not begun is therefore sent one informational response, which clients have to skip (RFC 9110,
// section 15.2). Within a response there is nothing that could be sent in addition: a client that ends its side there, and
// to which no byte is sent for a while, counts as one that has left.
import type { Output } from './output.ts';
import type { OpenExchange } from './server-exchange.ts';
import type { ServerTimes } from './server-limits.ts';
import type { Transport } from './socket-end.ts';
import type { Sweep } from './sweep.ts';

interface Clock {
  readonly sweep: Pick<Sweep, 'now'>;
  readonly times: Pick<ServerTimes, 'halfClosedMs'>;
}

const NOTHING = Buffer.alloc(0);

export class HalfClose {
  deadlineMs: number;
  readonly #waitMs: number;
  readonly #output: Output;
  readonly #transport: Transport | undefined;
  /** Bytes that had been sent when the client ended its side: they show nothing, since it may have read them before. */
  readonly #sentBytes: number;
  /** Whether bytes were sent that a client that has left answers with a reset, or none can be sent. */
  #isAsked = false;

  constructor({ sweep, times }: Clock, output: Output, transport: Transport | undefined) {
    this.#waitMs = times.halfClosedMs;
    this.#output = output;
    this.#transport = transport;
    this.#sentBytes = output.sentBytes;
    this.deadlineMs = sweep.now() + this.#waitMs;
  }

  /** Finds out whether the client of an exchange has left. A connection that the client has reset is closed soon. */
  hasLeft(exchange: OpenExchange, nowMs: number): boolean {
    this.deadlineMs = nowMs + this.#waitMs;
    // Node does not notice a reset once the input has ended. An empty write sends nothing, and fails after a reset.
    this.#transport?.write(NOTHING);
    if (this.#isAsked) return false;
    this.#isAsked = true;
    if (this.#output.waitingBytes > 0 || this.#output.takenBytes > this.#sentBytes) return false;
    exchange.informational(102, 'Processing', []);
    return exchange.hasResponded;
  }
}
