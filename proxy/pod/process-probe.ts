// ProcessProbe: whether the process accepts connections. Whoever asks while an attempt is under way shares its result, so that
// any number of questions costs one connection at a time.
import { connect } from 'node:net';

export interface ProbedAddress {
  readonly host: string;
  readonly port: number;
}

export class ProcessProbe {
  readonly #address: ProbedAddress;
  readonly #timeoutMs: number;
  #attempt: Promise<boolean> | undefined;

  constructor(address: ProbedAddress, timeoutMs: number) {
    this.#address = address;
    this.#timeoutMs = timeoutMs;
  }

  /** Never rejects. */
  isListening(): Promise<boolean> {
    this.#attempt ??= this.#connect().finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
  }

  async #connect(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect(this.#address);
    const timer = setTimeout(() => resolve(false), this.#timeoutMs);
    socket.once('connect', () => resolve(true));
    // A socket that was destroyed may still report an error.
    socket.on('error', () => resolve(false));
    const isListening = await promise;
    clearTimeout(timer);
    socket.destroy();
    return isListening;
  }
}
