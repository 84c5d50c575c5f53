// ImageSweep: removes modules and images that nothing uses any more, while no image is being read: one that was just found stands in no
// record yet.
//
// Invariants
// - No image is looked for during a removal, and nothing is removed while one is looked for.
// - Images that take long, such as from a registry that trickles, put a removal off a few times only: then further ones wait for it.
import { join } from 'node:path';
import { sweepImageRoots } from './image-roots.ts';
import { sweepModules, usedImages } from './machine-sweep.ts';
import type { ServiceRecord } from './service-record.ts';

/** Pause before the removal, in milliseconds. */
const SWEEP_MS = 1000;
/** Number of times that a removal is put off before those who look for images wait for it. */
const POSTPONED_MAX = 10;

export class ImageSweep {
  readonly #folder: string;
  readonly #records: () => readonly ServiceRecord[];
  readonly #reportFailure: (error: unknown) => void;
  /** Images that are being read. */
  #reading = 0;
  #timer: NodeJS.Timeout | undefined;
  #postponed = 0;
  /** Called once no image is being read, while others wait for a removal. */
  #idle: (() => void) | undefined;
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
    let awaited: Promise<void> | undefined;
    while (awaited !== this.#sweeping) {
      awaited = this.#sweeping;
      // oxlint-disable-next-line no-await-in-loop -- another removal may begin before this one has gone on
      await awaited;
    }
    this.#reading++;
    try {
      return await read();
    } finally {
      this.#reading--;
      // Those who have read it put it into a record before the next turn of the event loop. Another image may be looked for until then.
      if (this.#reading === 0) setImmediate(() => this.#reading === 0 && this.#idle?.());
    }
  }

  /** Asks for a removal, soon. */
  request(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#reading > 0 && this.#postponed++ < POSTPONED_MAX) this.request();
      else this.#sweeping = this.#sweep();
    }, SWEEP_MS).unref();
  }

  /** Resolves once nothing more is removed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    // Reading has ended, or is ended by who has begun it.
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    this.#postponed = 0;
    try {
      if (this.#reading > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
      const records = this.#records();
      sweepModules(this.#folder, records);
      await sweepImageRoots(join(this.#folder, 'images'), usedImages(this.#folder, records));
    } catch (error) {
      this.#reportFailure(error);
    }
  }
}
