// SimulatedReceivers: receivers in memory and their name server, on a clock of the test, for the real sender: each request is read from the bytes that
// it has written, and is answered with bytes.
import { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';
import type { VirtualClock } from '@svc/host/testing';
import { ReceiverAddresses } from '../../../webhooks/sending/receiver-addresses.ts';
import { SENDER_LIMITS_DEFAULT } from '../../../webhooks/sending/sender-limits.ts';
import { Sender } from '../../../webhooks/sending/sender.ts';

/** What a receiver does with a request. */
export interface Wire {
  /** Bytes of the answer; undefined: none comes. */
  readonly bytes?: string;
  readonly afterMs: number;
  /** The connection is lost then. */
  readonly isReset: boolean;
}

export interface WireRequest {
  readonly host: string;
  readonly deliveryId: string;
  readonly body: string;
}

export interface SimulatedReceiversOptions {
  readonly clock: VirtualClock;
  /** Returns the addresses of a host, as they are now. */
  readonly resolve: (host: string) => readonly string[];
  readonly answer: (request: WireRequest) => Wire;
}

export class SimulatedReceivers {
  /** Addresses that were connected to. */
  readonly contacted = new Set<string>();
  readonly #options: SimulatedReceiversOptions;

  constructor(options: SimulatedReceiversOptions) {
    this.#options = options;
  }

  /** Returns the sender of a process that is started. */
  sender(): Sender {
    const { clock, resolve } = this.#options;
    const limits = SENDER_LIMITS_DEFAULT;
    const addresses = new ReceiverAddresses({
      admitted: { networks: [], domains: [] },
      addressesMax: limits.addressesMax,
      nameTimeoutMs: 1_000,
      resolver: {
        resolve4: (name) => Promise.resolve([...resolve(name)]),
        resolve6: () => Promise.resolve([]),
        cancel: () => {},
      },
      clock,
    });
    const connect: buildConnector.connector = ({ hostname }, callback) =>
      addresses.lookup(hostname, { all: true }, (error, found) => {
        if (error !== null) return callback(error, null);
        for (const { address } of found as { address: string }[]) this.contacted.add(address);
        // undici needs a duplex stream alone.
        callback(null, new SimulatedSocket(hostname, this.#options) as never);
      });
    return new Sender({ addresses, limits, clock, connect });
  }
}

/** The sender's end of a connection; the receiver is behind it. */
class SimulatedSocket extends Duplex {
  readonly #host: string;
  readonly #options: SimulatedReceiversOptions;
  #request = '';

  constructor(host: string, options: SimulatedReceiversOptions) {
    super();
    this.#host = host;
    this.#options = options;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#request += chunk.toString('latin1');
    const [head, body = ''] = this.#request.split('\r\n\r\n', 2) as [string, string?];
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? Number.NaN);
    if (body.length === length) {
      this.#request = '';
      const deliveryId = /^x-hook-delivery: (\S+)$/im.exec(head)![1]!;
      this.#answer({ host: this.#host, deliveryId, body: Buffer.from(body, 'latin1').toString() });
    }
    done();
  }

  #answer(request: WireRequest): void {
    const { clock, answer } = this.#options;
    const { bytes, afterMs, isReset } = answer(request);
    clock.after(afterMs, () => {
      if (this.destroyed) return;
      if (bytes !== undefined) this.push(bytes);
      if (isReset) this.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    });
  }
}
