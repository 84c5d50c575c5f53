// ImageSweep: removes modules and images that nothing uses any more, while no image is being read: one that was just found stands in no
// record yet.
//
// Invariant: no image is looked for during a removal, and nothing is removed while one is looked for.
import { join } from 'node:path';
import { sweepImageRoots } from './image-roots.ts';
import { sweepModules, usedImages } from './machine-sweep.ts';
import type { ServiceRecord } from './service-record.ts';

/** Pause before the removal, in milliseconds. */
const SWEEP_MS = 1000;

export class ImageSweep {
  readonly #folder: string;
  readonly #records: () => readonly ServiceRecord[];
  readonly #reportFailure: (error: unknown) => void;
  /** Images that are being read. */
  #reading = 0;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** `folder`: of the machine. */
  constructor(
    folder: string,
    records: () => readonly ServiceRecord[],
    reportFailure: (error: unknown) => void,
  ) {
    this.#folder = folder;
    this.#records = records;
    this.#reportFailure = reportFailure;
  }

  /** Runs what looks for an image. Nothing is removed meanwhile. */
  async hold<Value>(read: () => Promise<Value>): Promise<Value> {
    this.#reading++;
    try {
      await this.#sweeping;
      return await read();
    } finally {
      this.#reading--;
    }
  }

  /** Asks for a removal, soon. */
  request(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#reading > 0) this.request();
      else this.#sweeping = this.#sweep();
    }, SWEEP_MS).unref();
  }

  /** Resolves once nothing more is removed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    try {
      const records = this.#records();
      sweepModules(this.#folder, records);
      await sweepImageRoots(join(this.#folder, 'images'), usedImages(this.#folder, records));
    } catch (error) {
      this.#reportFailure(error);
    }
  }
}
