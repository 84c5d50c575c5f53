// SegmentLog: the minimum of a durable log. A thread writes the queued records to a file, syncs it, and reports back,
// while the next group collects. It checks nothing, and has no index.
import { closeSync, fdatasyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const SEGMENT_BYTES = 64 * 1024 * 1024;

export class SegmentLog {
  readonly #worker: Worker;
  #batch: string[] = [];
  #waiting: (() => void)[] = [];

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#worker = new Worker(new URL(import.meta.url), { workerData: folder });
    this.#worker.on('message', (count: number) => {
      for (const settle of this.#waiting.splice(0, count)) settle();
    });
  }

  /** Appends a record. Resolves when it is on disk. */
  append(record: string): Promise<void> {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    if (this.#batch.length === 0) setImmediate(() => this.#worker.postMessage(this.#taken()));
    this.#batch.push(record);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #taken(): string[] {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }
}

function write(folder: string): void {
  const port = parentPort!;
  let queue: string[] = [];
  let segment = 0;
  let file = openSync(join(folder, '0.log'), 'a');
  let bytes = 0;
  port.on('message', (batch: string[]) => {
    if (queue.length === 0) setImmediate(commit);
    queue.push(...batch);
  });
  const commit = () => {
    const records = queue;
    queue = [];
    bytes += writeSync(file, `${records.join('\n')}\n`);
    fdatasyncSync(file);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    port.postMessage(records.length);
    if (bytes < SEGMENT_BYTES) return;
    closeSync(file);
    file = openSync(join(folder, `${++segment}.log`), 'a');
    bytes = 0;
  };
}

if (!isMainThread) write(workerData as string);
