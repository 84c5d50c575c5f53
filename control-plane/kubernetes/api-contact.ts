// ApiContact: whether the API server answers now. A watch whose connection is gone without a word stays open for a while, so what is known from
// watches counts only together with an answer of the last seconds. One request serves all services.
import type { Clock } from '@svc/kit/clock';
import type { KubeClient } from './api/kube-client.ts';

export interface ApiContactOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** An object that is read; there may be none. The server reads it from its storage. */
  readonly path: string;
  /** Age up to which an answer counts, in milliseconds. */
  readonly ageMaxMs: number;
}

export class ApiContact {
  readonly #options: ApiContactOptions;
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

  /** Never rejects. */
  async #ask(): Promise<boolean> {
    const { client, clock, path } = this.#options;
    const askedMs = clock.monotonicMs();
    try {
      await client.get(path);
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
