// ServiceSweep: has every known service looked at, at the start and then every `resyncMs`. So nothing depends on marks and
// reports that may be lost.
import type { ServiceKey } from '@svc/client';
import type { Clock } from '@svc/kit/clock';
import { serviceKeyOf } from '../flows/service-id.ts';
import type { KnownService } from './known-services.ts';

/** Known services in the order of their ids. */
export interface KnownServicesPage {
  readonly rows: readonly KnownService[];
  /** Undefined: this is the last page. */
  readonly cursor: string | undefined;
}

export interface ServiceSweepOptions {
  readonly page: (cursor: string | undefined) => Promise<KnownServicesPage>;
  readonly found: (key: ServiceKey, row: KnownService) => void;
  readonly onFailure: (error: unknown) => void;
  readonly intervalMs: number;
  readonly clock: Clock;
}

/** Pause after a sweep that failed. */
const RETRY_MS = 1000;

export class ServiceSweep {
  readonly #options: ServiceSweepOptions;
  #isStopped = false;
  #cancelPause = () => {};

  /** Begins the first sweep at once. */
  constructor(options: ServiceSweepOptions) {
    this.#options = options;
    void this.#sweep();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelPause();
  }

  /** Never rejects. */
  async #sweep(): Promise<void> {
    let pauseMs = this.#options.intervalMs;
    try {
      await this.#findAll();
    } catch (error) {
      pauseMs = RETRY_MS;
      if (!this.#isStopped) this.#options.onFailure(error);
    }
    if (!this.#isStopped)
      this.#cancelPause = this.#options.clock.after(pauseMs, () => void this.#sweep());
  }

  async #findAll(): Promise<void> {
    const { page, found } = this.#options;
    let cursor: string | undefined;
    do {
      // oxlint-disable-next-line no-await-in-loop -- a page begins where the one before it ends
      const { rows, cursor: next } = await page(cursor);
      if (this.#isStopped) return;
      for (const row of rows) found(serviceKeyOf(row.id), row);
      cursor = next;
    } while (cursor !== undefined);
  }
}
