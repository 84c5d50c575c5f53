// ProcessRuns: the process that holds the code of a service, where the runtime starts it (svc.process.file), from its first run to its last.
//
// Invariants
// R1  At most one run exists at a time, and none after `stop`.
// R2  A process that ends before it has described its code ends the service: its start has failed. Later it is started again, after the
//     pauses of a shard, and the service goes on.
// R3  What the process writes is logged within the limits of svc.log.*, with the field `from: process`.
import { setTimeout as pause } from 'node:timers/promises';
import { limitedLog } from '@svc/kit/limited-log';
import type { Log } from '@svc/kit/log';
import type { LogLimits } from '@svc/kit/log-limits';
import { type ProcessCommand, readProcessFile } from '@svc/kit/process-file';
import { processEnded, type ProcessEnd, StartedProcess } from '@svc/kit/started-process';
import type { SvcError } from '@svc/kit/svc-error';
import { RestartPauses } from '../shards/restart-pauses.ts';
import type { SupervisorLimits } from '../shards/supervisor-limits.ts';
import { CODE_NAMES } from './service-code.ts';

/** Time that the process has to end, once the service has finished all its calls, in milliseconds. */
const STOP_MS = 2000;

export interface ProcessRunsOptions {
  /** Absolute path of the file with the command. */
  readonly file: string;
  readonly limits: { readonly supervisor: SupervisorLimits; readonly log: LogLimits };
  readonly log: Log;
  /** Whether the process has described its code. */
  readonly isDescribed: () => boolean;
  /** Called once, with SVC_PROCESS_ENDED, if the process ends before it has described its code. */
  readonly failed: (error: SvcError) => void;
}

export class ProcessRuns {
  readonly #options: ProcessRunsOptions;
  readonly #pauses: RestartPauses;
  readonly #output: Log;
  readonly #stopping = new AbortController();
  #process: StartedProcess | undefined;
  #supervision: Promise<void> = Promise.resolve();

  constructor(options: ProcessRunsOptions) {
    this.#options = options;
    this.#pauses = new RestartPauses(options.limits.supervisor);
    // A process that writes much leaves the lines of the runtime their space.
    this.#output = limitedLog(options.log, options.limits.log, () => performance.now());
  }

  /** Resolves once the process runs. Rejects with SVC_SETTING_INVALID and SVC_COMMAND_NOT_STARTED. */
  async start(): Promise<void> {
    const command = await readProcessFile(this.#options.file, CODE_NAMES.file);
    await this.#run(command);
    this.#supervision = this.#supervise(command);
  }

  /** Asks the process to end, with SIGTERM, and kills it when its time is over. Resolves once it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#process?.terminate();
    if ((await this.#process?.endsWithin(STOP_MS)) === false)
      this.#options.log({
        level: 'warn',
        message: 'the process did not end in time and was killed',
      });
    await this.#supervision;
  }

  async #run(command: ProcessCommand): Promise<void> {
    this.#process = undefined;
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    const process = await StartedProcess.start(command, (stream, message) =>
      this.#output({ level: 'info', message, fields: { from: 'process', stream } }),
    );
    // The service was stopped while the process started.
    if (signal.aborted) process.kill();
    else this.#process = process;
  }

  async #supervise(command: ProcessCommand): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      const startedMs = performance.now();
      const end = await this.#process?.ended;
      if (signal.aborted) return;
      if (end !== undefined && !this.#options.isDescribed()) {
        this.#options.failed(processEnded(end));
        return;
      }
      const pauseMs = this.#pauses.next(performance.now() - startedMs);
      if (end !== undefined) this.#logEnd(end, pauseMs);
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      await this.#run(command).catch((error: SvcError) => this.#logFailure(error));
    }
  }

  #logEnd({ how, lastLine }: ProcessEnd, pauseMs: number): void {
    this.#options.log({
      level: 'warn',
      message: `the process has ended ${how}; it is started again after a pause`,
      fields: { pauseMs, ...(lastLine === undefined ? {} : { lastLine }) },
    });
  }

  #logFailure({ code, message }: SvcError): void {
    this.#options.log({
      level: 'error',
      message: `${message} It is tried again.`,
      fields: { code },
    });
  }
}
