// CodeSource: where the code of a service comes from, a module or a process. A process may be started after the runtime, or by it, and is
// watched while the service runs.
import type { Log } from '@svc/kit/log';
import type { LogLimits } from '@svc/kit/log-limits';
import type { Phase } from '@svc/kit/phases';
import { SvcError } from '@svc/kit/svc-error';
import type { GuestSource } from '../hosting/guest-source.ts';
import type { ProcessSource } from '../hosting/process/process-source.ts';
import type { ProcessConnection } from '../hosting/process/process-stream.ts';
import type { ProcessSettings } from '../hosting/process/process-settings.ts';
import type { WasmLimits } from '../hosting/wasm/wasm-limits.ts';
import type { SupervisorLimits } from '../shards/supervisor-limits.ts';
import { readModule } from './module-source.ts';
import type { ProcessRuns } from './process-runs.ts';
import type { ServiceView } from '../introspection/service-view.ts';
import type { ProcessWatch } from './process-watch.ts';
import type { ServedCode } from './service-code.ts';

export interface CodeSettings {
  readonly code: ServedCode;
  readonly name: string;
  readonly deployed: boolean;
  readonly sections: {
    readonly wasm: WasmLimits;
    readonly process: ProcessSettings;
    readonly supervisor: SupervisorLimits;
    readonly log: LogLimits;
  };
}

export interface CodeNeeds {
  /** The environment of the thread that judges a module. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
}

export class CodeSource {
  readonly #settings: CodeSettings;
  readonly #needs: CodeNeeds;
  #source: GuestSource | undefined;
  #runs: ProcessRuns | undefined;
  #watch: ProcessWatch | undefined;

  constructor(settings: CodeSettings, needs: CodeNeeds) {
    this.#settings = settings;
    this.#needs = needs;
  }

  /**
   * Reads the code; waits for a process, and says why it waits. Rejects with SVC_MODULE_…, SVC_PROCESS_INVALID, and the signal's
   * reason.
   */
  async read(signal: AbortSignal): Promise<GuestSource> {
    const { code, name: service, deployed, sections } = this.#settings;
    const { env } = this.#needs;
    if (code.kind === 'module')
      this.#source = await readModule(code.file, sections, { env, signal });
    else {
      const { address } = code;
      const { process: settings } = sections;
      const connection = { address, service, developing: !deployed, settings };
      this.#source = await this.#awaitProcess(connection, signal);
    }
    return this.#source;
  }

  /**
   * Returns the phase in which the process runs, if the runtime starts it. `failed`: called once with SVC_PROCESS_ENDED if the process
   * ends before it has described its code. It is to stop after the shards: until then their calls finish in the process.
   */
  running(failed: (error: SvcError) => void): Phase {
    return { start: () => this.#startRuns(failed), stop: () => this.#runs?.stop() };
  }

  /**
   * Returns the phase in which the process is watched, if there is one. `replaced`: called once with SVC_PROCESS_REPLACED when the process has
   * other code. The start rejects if the process is gone already.
   */
  watching(replaced: (error: SvcError) => void): Phase {
    return {
      start: (signal) => this.#startWatch(replaced, signal),
      stop: () => this.#watch?.close(),
    };
  }

  /** The process as introspection sees it; undefined for a module. */
  get process(): ServiceView['process'] {
    return this.#settings.code.kind === 'process' ? () => this.#watch : undefined;
  }

  async #startRuns(failed: (error: SvcError) => void): Promise<void> {
    const { code, sections } = this.#settings;
    if (code.kind === 'module' || code.file === undefined) return;
    const { ProcessRuns: Runs } = await import('./process-runs.ts');
    this.#runs = new Runs({
      file: code.file,
      limits: sections,
      log: this.#needs.log,
      isDescribed: () => this.#source !== undefined,
      failed,
    });
    await this.#runs.start();
  }

  async #startWatch(replaced: (error: SvcError) => void, signal: AbortSignal): Promise<void> {
    const source = this.#source;
    if (source?.kind !== 'process') return;
    const { ProcessWatch: Watch } = await import('./process-watch.ts');
    this.#watch = new Watch(source, this.#needs.log, replaced);
    const close = (): void => this.#watch?.close();
    // A process that does not answer would keep the service from stopping.
    signal.addEventListener('abort', close);
    await this.#watch.open().finally(() => signal.removeEventListener('abort', close));
  }

  async #awaitProcess(connection: ProcessConnection, signal: AbortSignal): Promise<ProcessSource> {
    // A service with a module does not load this code.
    const { awaitProcess } = await import('../hosting/process/awaited-process.ts');
    return awaitProcess(connection, signal, (why) => {
      const message = `waiting for the process at ${connection.address}, which holds the code of the service: it ${why}`;
      this.#needs.log({ level: 'info', message });
    });
  }
}
