// ServiceStatus is how far a service is, from its start to its end: for its state file, and for the answer of its readiness.
// Invariant: phases only go forward, and nothing follows `ended`.
import { printable } from './printable.ts';
import { exitCodeOf } from './program-failure.ts';
import { SERVICE_PHASES, type ServiceExit, type ServicePhase, StateFile } from './state-file.ts';
import { SvcError } from './svc-error.ts';

export class ServiceStatus {
  readonly #file: StateFile | undefined;
  #phase: ServicePhase | undefined;

  /** `file`: path of the state file; undefined: there is none. `onFailure` receives the first error of writing it. */
  constructor(file: string | undefined, onFailure: (error: unknown) => void) {
    this.#file = file === undefined ? undefined : new StateFile(file, onFailure);
  }

  enter(phase: Exclude<ServicePhase, 'ended'>): void {
    this.#enter(phase);
  }

  end(exit: ServiceExit): void {
    this.#enter('ended', exit);
  }

  #enter(phase: ServicePhase, exit?: ServiceExit): void {
    if (
      this.#phase !== undefined &&
      SERVICE_PHASES.indexOf(phase) <= SERVICE_PHASES.indexOf(this.#phase)
    )
      return;
    this.#phase = phase;
    this.#file?.write(phase, exit);
  }
}

/** Returns the status of the service of this process. `file`: path of its state file, from the setting; undefined: there is none. */
export function openStatus(file: string | undefined): ServiceStatus {
  return new ServiceStatus(file, (error) => {
    const reason = printable(error instanceof Error ? error.message : String(error));
    process.stderr.write(`svc: the state file (svc.state-file) cannot be written: ${reason}\n`);
  });
}

/** Returns how a process that fails with this error ends. */
export function exitOf(error: unknown): ServiceExit {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof SvcError)) return { code: 1, signal: null, message };
  return { code: exitCodeOf(error), signal: null, error: error.code, message };
}
