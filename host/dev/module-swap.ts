// ModuleSwap: gives a service another module while it runs. The new one is judged and started beside the present one,
// which serves until then; it goes on serving when the new one is refused or fails at its start. Only then does the
// present one finish what is in flight, and the new one serves on the same port and journal.
import type { GuestSource } from '../hosting/guest-source.ts';
import type { ShardThread } from '../shards/shard-thread.ts';
import type { Supervisor } from '../shards/supervisor.ts';
import { systemClock } from '../system.ts';

/** What is in flight gets so long to finish, in milliseconds. */
const GRACE_MS = 2_000;

export interface SwappedService {
  /** Of the module that is served first. */
  readonly file: string;
  readonly supervisor: Supervisor;
  readonly journal: NotingJournal;
  /** Starts what reads the next module. */
  readonly newReader: () => SourceReader;
  /** Told of each module that is served in the place of another. */
  readonly replaced: (by: GuestSource) => void;
}

/** Reads one source, from a file that need not be there when the reader is started. */
export interface SourceReader {
  /** Rejects with an SvcError that says why the source may not run, and with the signal's reason. */
  read(file: string, signal: AbortSignal): Promise<GuestSource>;
  /** Ends a reader that reads nothing any more. May be called again. */
  end(): void;
}

/** A source that takes the place of another, and the file that it was read from. */
interface Replacing {
  readonly file: string;
  readonly source: GuestSource;
}

/** The journal that all its modules write. */
interface NotingJournal {
  readonly dir: string;
  noteModule(module: {
    readonly fingerprint: string;
    readonly descriptor: string;
    readonly timeMs: number;
  }): void;
}

/** Threads that load the host's code while a module is made. */
interface Standby {
  readonly reader: SourceReader;
  readonly thread: ShardThread;
  readonly source: PromiseWithResolvers<GuestSource>;
}

export class ModuleSwap {
  readonly #service: SwappedService;
  readonly #stops = new AbortController();
  #standby: Standby | undefined;
  #servedFile: string | undefined;
  /** It has failed as it took over, and is started until it serves or another one takes over. */
  #tried: Replacing | undefined;

  constructor(service: SwappedService) {
    this.#service = service;
    this.#servedFile = service.file;
  }

  /** Of the module that is served; undefined: the one before is gone, and another is tried until it serves. */
  get servedFile(): string | undefined {
    return this.#servedFile;
  }

  /** Where the journal is that all modules write. */
  get dataFolder(): string {
    return this.#service.journal.dir;
  }

  /** A module is being made. */
  prepare(): void {
    this.#standby ??= this.#newStandby();
  }

  /**
   * Serves the module of the file, one after the other. Throws an SvcError when it cannot; the present one then goes on
   * where it was refused, or failed at its start (`servedFile`).
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
      // Sooner or later it serves, unless another is there before.
      this.#tried = { file, source };
      this.#tellOf(source);
      throw error;
    }
    this.#servedFile = file;
    this.#tellOf(source);
    return source;
  }

  /** The service is served again after it was not. The module that serves now, if it was tried until it did. */
  servesAgain(): Replacing | undefined {
    const tried = this.#tried;
    if (tried === undefined) return undefined;
    this.#tried = undefined;
    this.#servedFile = tried.file;
    return tried;
  }

  /** The service is about to stop. */
  async close(): Promise<void> {
    this.#stops.abort();
    this.#standby?.reader.end();
    await this.#standby?.thread.end();
    this.#standby = undefined;
  }

  #tellOf(by: GuestSource): void {
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
