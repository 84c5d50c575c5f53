// ModuleSwap: gives a service another module while it runs. The new one is judged and started beside the present one,
// which serves until then; it goes on serving when the new one is refused or fails at its start. Only then does the
// present one finish what is in flight, and the new one serves on the same port and journal.
import { AdmissionThread, admitModuleFile } from '../hosting/wasm/admission/admission-thread.ts';
import type { AdmittedModule } from '../hosting/wasm/admission/admission.ts';
import type { WasmLimits } from '../hosting/wasm/wasm-limits.ts';
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
  readonly limits: WasmLimits;
  /** All that a thread has for an environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Told of each module that is served in the place of another. */
  readonly replaced: (by: ReplacingModule) => void;
}

/** A module that takes the place of another, and the file that it was read from. */
export interface ReplacingModule {
  readonly file: string;
  readonly module: AdmittedModule;
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
  readonly admission: AdmissionThread;
  readonly thread: ShardThread;
  readonly module: PromiseWithResolvers<AdmittedModule>;
}

export class ModuleSwap {
  readonly #service: SwappedService;
  readonly #stops = new AbortController();
  #standby: Standby | undefined;
  #servedFile: string | undefined;
  /** It has failed as it took over, and is started until it serves or another one takes over. */
  #tried: ReplacingModule | undefined;

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
  async replace(file: string): Promise<AdmittedModule> {
    const { supervisor, limits } = this.#service;
    this.prepare();
    const { admission, thread, module: awaited } = this.#standby!;
    this.#standby = undefined;
    let module: AdmittedModule;
    try {
      module = await admitModuleFile(file, limits, {
        thread: admission,
        signal: this.#stops.signal,
      });
      awaited.resolve(module);
      await thread.admitted;
    } catch (error) {
      admission.end();
      awaited.reject(error);
      await thread.end();
      throw error;
    }
    this.#tried = undefined;
    this.#servedFile = undefined;
    try {
      await supervisor.takeOver(thread, module, GRACE_MS);
    } catch (error) {
      if (this.#stops.signal.aborted) throw error;
      // Sooner or later it serves, unless another is there before.
      this.#tried = { file, module };
      this.#tellOf(this.#tried);
      throw error;
    }
    this.#servedFile = file;
    this.#tellOf({ file, module });
    return module;
  }

  /** The service is served again after it was not. The module that serves now, if it was tried until it did. */
  servesAgain(): ReplacingModule | undefined {
    const tried = this.#tried;
    if (tried === undefined) return undefined;
    this.#tried = undefined;
    this.#servedFile = tried.file;
    return tried;
  }

  /** The service is about to stop. */
  async close(): Promise<void> {
    this.#stops.abort();
    this.#standby?.admission.end();
    await this.#standby?.thread.end();
    this.#standby = undefined;
  }

  #tellOf(by: ReplacingModule): void {
    const { journal, replaced } = this.#service;
    const { fingerprint, descriptor } = by.module;
    const timeMs = systemClock.nowMs();
    journal.noteModule({ fingerprint, descriptor: JSON.stringify(descriptor), timeMs });
    replaced(by);
  }

  #newStandby(): Standby {
    const { supervisor, limits, env } = this.#service;
    const module = Promise.withResolvers<AdmittedModule>();
    return {
      admission: new AdmissionThread(limits, env),
      module,
      thread: supervisor.standBy(module.promise),
    };
  }
}
