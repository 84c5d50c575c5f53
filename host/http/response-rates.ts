// ResponseRates cuts the connections whose other end reads nothing of a response for too long, or reads responses too slowly. It
// looks at all connections now and then: a timer for each one, reset with every response, would be a noticeable part of the
// cost of a short request.
import type { ServerConnection, ServerConnections } from '@svc/http1';
import type { ByteBudget } from '@svc/model/byte-budget';
import type { RateTimes } from './http-settings.ts';
import { NO_PRESSURE, nextPressure, ResponseRate } from './response-rate.ts';

/** Least number of sweeps in the shortest of the times. */
const SWEEPS_PER_TIME = 4;
/** Longest time between two sweeps, in milliseconds. */
const SWEEP_MS_MAX = 5000;

interface Reader {
  readonly rate: ResponseRate;
  /** Bytes that had left the process when the other end last read some. */
  takenBytes: number;
  /** Time in which it has read nothing since. */
  stalledMs: number;
}

export class ResponseRates {
  readonly #times: RateTimes;
  readonly #connections: ServerConnections;
  readonly #unsent: ByteBudget;
  readonly #sweepMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #readers = new WeakMap<ServerConnection, Reader>();
  #pressure = NO_PRESSURE;

  /** `unsent`: budget of the bytes that all connections buffer for their callers. */
  constructor(times: RateTimes, connections: ServerConnections, unsent: ByteBudget) {
    this.#times = times;
    this.#connections = connections;
    this.#unsent = unsent;
    const shorterMs = Math.min(times.stallMs, times.rateGraceMs);
    this.#sweepMs = Math.min(SWEEP_MS_MAX, Math.ceil(shorterMs / SWEEPS_PER_TIME));
    this.#timer = setInterval(() => this.#sweep(), this.#sweepMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    this.#pressure = nextPressure(this.#pressure, this.#unsent);
    for (const connection of this.#connections) if (this.#isTooSlow(connection)) connection.cut();
  }

  #isTooSlow(connection: ServerConnection): boolean {
    const isWaiting = connection.waitingBytes > 0;
    const reader = this.#readers.get(connection) ?? this.#begin(connection, isWaiting);
    if (reader === undefined) return false;
    const { takenBytes } = connection;
    if (isWaiting && takenBytes === reader.takenBytes) reader.stalledMs += this.#sweepMs;
    else reader.stalledMs = 0;
    reader.takenBytes = takenBytes;
    const isTooLow = reader.rate.isTooLow(isWaiting ? this.#sweepMs : 0, this.#pressure);
    return isTooLow || reader.stalledMs > this.#times.stallMs;
  }

  /** Most connections never make their server wait. */
  #begin(connection: ServerConnection, isWaiting: boolean): Reader | undefined {
    if (!isWaiting) return undefined;
    const rate = new ResponseRate(this.#times, connection);
    const reader: Reader = { rate, takenBytes: -1, stalledMs: 0 };
    this.#readers.set(connection, reader);
    return reader;
  }
}
