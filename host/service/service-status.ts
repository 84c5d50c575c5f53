// ServiceStatus is how far a service is, from its start to its end: for its state file, and for the answer of its readiness.
// Invariant: phases only go forward, and nothing follows `ended`.
import {
  SERVICE_PHASES,
  type ServiceExit,
  type ServicePhase,
  StateFile,
} from '@svc/kit/state-file';

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
