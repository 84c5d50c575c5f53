// RouteFileWriter keeps the table of routes on disk: one write at a time, always the latest table, and again later if it fails.
import type { Log } from '@svc/kit/log';
import { writeRouteFile } from '@svc/routing/route-file';
import type { RouteTable } from '@svc/routing/route-table';

export class RouteFileWriter {
  readonly #file: string;
  readonly #retryMs: number;
  readonly #log: Log;
  #next: RouteTable | undefined;
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isFailing = false;

  constructor(file: string, retryMs: number, log: Log) {
    this.#file = file;
    this.#retryMs = retryMs;
    this.#log = log;
  }

  /** Writes the table, unless another one comes before its turn. */
  write(table: RouteTable): void {
    this.#next = table;
    this.#begin();
  }

  /** Resolves once the last table is written, or could not be. */
  async close(): Promise<void> {
    await this.#writing;
    clearTimeout(this.#retry);
  }

  #begin(): void {
    clearTimeout(this.#retry);
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    while (this.#next !== undefined) {
      const table = this.#next;
      this.#next = undefined;
      try {
        await writeRouteFile(this.#file, table);
        this.#isFailing = false;
      } catch (error) {
        this.#reportOnce(error as Error);
        this.#next ??= table;
        this.#retry = setTimeout(() => this.#begin(), this.#retryMs);
        this.#retry.unref();
        break;
      }
    }
    this.#writing = undefined;
  }

  #reportOnce({ message }: Error): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const fields = { file: this.#file, error: message };
    this.#log({ level: 'error', message: 'The file of routes cannot be written', fields });
  }
}
