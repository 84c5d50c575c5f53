// ModuleSwap replaces the module of a running service. The new module is admitted and started beside the current one,
// which serves meanwhile, and continues to serve if the new one is refused or fails to start. Once the new module has
// started, the current one finishes its requests, and the new one serves on the same port and journal.
import type { GuestSource } from '../hosting/guest-source.ts';
import type { ShardThread } from '../shards/shard-thread.ts';
import type { Supervisor } from '../shards/supervisor.ts';
import { systemClock } from '../system.ts';
import type { JournalLocation } from '../storage/journal-location.ts';

/** Time that requests in flight have to finish, in milliseconds. */
const GRACE_MS = 2_000;

export interface SwappedService {
  /** File of the module that is served first. */
  readonly file: string;
  readonly supervisor: Supervisor;
  readonly journal: SharedJournal;
  /** Starts the reader for the next module. */
  readonly newReader: () => SourceReader;
  /** Reads the configuration of a module, and notes where its new consumers begin, before it serves. May reject. */
  readonly begins: (module: GuestSource) => Promise<void>;
  /** Called with each module that replaces another one, even if its start has failed and is being retried. */
  readonly replaced: (by: GuestSource) => void;
}

/** Reads one source, from a file that need not be there when the reader is started. */
export interface SourceReader {
  /** Rejects with an SvcError that says why the source may not run, or with the signal's reason. */
  read(file: string, signal: AbortSignal): Promise<GuestSource>;
  /** Ends a reader that is no longer needed. May be called again. */
  end(): void;
}

/** A source that replaces another one, and the file that it was read from. */
interface Replacement {
  readonly file: string;
  readonly source: GuestSource;
}

/** The journal of the service, which notes each module that writes to it. */
interface SharedJournal {
  readonly location: JournalLocation;
  noteModule(module: {
    readonly fingerprint: string;
    readonly descriptor: string;
    readonly timeMs: number;
  }): void;
}

/** Threads that load the host's code while a module is being built. */
interface Standby {
  readonly reader: SourceReader;
  readonly thread: ShardThread;
  readonly source: PromiseWithResolvers<GuestSource>;
}

export class ModuleSwap {
  readonly #service: SwappedService;
  /** Aborted when the service is about to stop. */
  readonly #stops = new AbortController();
  #standby: Standby | undefined;
  #servedFile: string | undefined;
  /** The module that failed when it took over; its start is retried until it serves or another one takes over. */
  #tried: Replacement | undefined;

  constructor(service: SwappedService) {
    this.#service = service;
    this.#servedFile = service.file;
  }

  /**
   * File of the module that is served; undefined if the previous one has stopped and the start of another is being
   * retried.
   */
  get servedFile(): string | undefined {
    return this.#servedFile;
  }

  /** Where the journal is, which all modules share. */
  get location(): JournalLocation {
    return this.#service.journal.location;
  }

  /** Prepares for the next module, which is being built. */
  prepare(): void {
    this.#standby ??= this.#newStandby();
  }

  /**
   * Serves the module of the file. Calls must not overlap. Rejects with an SvcError if the module cannot be served; if
   * it was refused or failed to start, the current one keeps serving (`servedFile`). Rejects with an AbortError if
   * `close` is called while the module is read.
   */
  async replace(file: string): Promise<GuestSource> {
    const { supervisor } = this.#service;
    this.prepare();
    const { reader, thread, source: awaited } = this.#standby!;
    this.#standby = undefined;
    let source: GuestSource;
    try {
      source = await reader.read(file, this.#stops.signal);
      awaited.resolve(source);
      await thread.admitted;
      await this.#service.begins(source);
    } catch (error) {
      reader.end();
      awaited.reject(error);
      await thread.end();
      throw error;
    }
    this.#tried = undefined;
    this.#servedFile = undefined;
    try {
      await supervisor.takeOver(thread, source, GRACE_MS);
    } catch (error) {
      if (this.#stops.signal.aborted) throw error;
      // The supervisor retries its start, unless another module takes over before.
      this.#tried = { file, source };
      this.#noteReplacement(source);
      throw error;
    }
    this.#servedFile = file;
    this.#noteReplacement(source);
    return source;
  }

  /** Notes that the service has recovered. Returns the retried module, which serves now; undefined if there is none. */
  recovered(): Replacement | undefined {
    const tried = this.#tried;
    if (tried === undefined) return undefined;
    this.#tried = undefined;
    this.#servedFile = tried.file;
    return tried;
  }

  /**
   * Ends the preparation for a next module, and aborts reading a module that `replace` is to serve. Called when the
   * service is about to stop.
   */
  async close(): Promise<void> {
    this.#stops.abort();
    this.#standby?.reader.end();
    await this.#standby?.thread.end();
    this.#standby = undefined;
  }

  #noteReplacement(by: GuestSource): void {
    const { journal, replaced } = this.#service;
    const { fingerprint, descriptor } = by;
    const timeMs = systemClock.nowMs();
    journal.noteModule({ fingerprint, descriptor: JSON.stringify(descriptor), timeMs });
    replaced(by);
  }

  #newStandby(): Standby {
    const { supervisor, newReader } = this.#service;
    const source = Promise.withResolvers<GuestSource>();
    return {
      reader: newReader(),
      source,
      thread: supervisor.standBy(source.promise),
    };
  }
}
