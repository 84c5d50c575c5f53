// ApiContact: whether the API server answers now. A watch whose connection is gone without a word stays open for a while, so what is known from
// watches counts only together with an answer of the last seconds. One request serves all services.
import type { Clock } from '@svc/kit/clock';

export interface ApiContactOptions {
  /** Has the server read something from its storage. Rejects unless it answers, and is still of the same cluster. */
  readonly confirmCluster: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  /** Age up to which an answer counts, in milliseconds. */
  readonly ageMaxMs: number;
  /** Time that the server has to answer, in milliseconds. Less than an observation has, so that the server can still be asked directly. */
  readonly timeoutMs: number;
}

export class ApiContact implements Disposable {
  readonly #options: ApiContactOptions;
  readonly #stopping = new AbortController();
  /** When the last request that was answered was sent, by the monotonic clock. */
  #answeredMs = -Infinity;
  #asking: Promise<boolean> | undefined;

  constructor(options: ApiContactOptions) {
    this.#options = options;
  }

  /** Returns whether the server has answered within the age, and asks it otherwise. Rejects with the reason of the signal alone. */
  async isThere(signal: AbortSignal): Promise<boolean> {
    const { clock, ageMaxMs } = this.#options;
    if (clock.monotonicMs() - this.#answeredMs < ageMaxMs) return true;
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return withSignal(this.#asking, signal);
  }

  /** Ends the request that is under way, as one without an answer. */
  [Symbol.dispose](): void {
    this.#stopping.abort();
  }

  /** Never rejects. */
  async #ask(): Promise<boolean> {
    const { confirmCluster, clock, timeoutMs } = this.#options;
    const askedMs = clock.monotonicMs();
    try {
      await confirmCluster(
        AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(timeoutMs)]),
      );
      this.#answeredMs = askedMs;
      return true;
    } catch {
      // The caller asks the server for what it wants to know, and gets the reason.
      return false;
    }
  }
}

function withSignal<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
