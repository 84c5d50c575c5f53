// LocalRegistration: the observability endpoint of a web-hosted service, and the file by which consoles and other services
// of this machine find it. Its failures are logged and do not affect the service.
import type { ServiceDescription } from '@svc/contract';
import type { Log } from '@svc/kit/log';
import { type ObservabilityEndpoint, openObservability } from '@svc/kit/observability-server';
import { RegistrationFile } from '@svc/kit/registration-file';
import { removeStaleRegistrations } from '@svc/kit/stale-registrations';
import { observedWeb } from './web-description.ts';

export class LocalRegistration {
  readonly #log: Log;
  #endpoint: ObservabilityEndpoint | undefined;
  #file: RegistrationFile | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Opens the endpoint and registers the service. `runningFolder`: undefined if there is none. Never rejects. */
  async open(describe: () => ServiceDescription, runningFolder: string | undefined): Promise<void> {
    try {
      this.#endpoint = await openObservability(
        async (target) => observedWeb(describe, target),
        (error) => this.#warn('the observability endpoint failed', error),
      );
      if (runningFolder === undefined) throw new Error('there is no home folder to register in');
      const { name, instanceId, pid, startedAt } = describe();
      this.#file = new RegistrationFile(runningFolder, {
        name,
        instanceId,
        pid,
        observabilityAddress: this.#endpoint.address,
        startedAt,
      });
      removeStaleRegistrations(runningFolder);
    } catch (error) {
      this.#warn('the service is not registered: no console and no other service finds it', error);
    }
  }

  /** Removes the file, so that nobody finds the service any more. */
  remove(): void {
    this.#file?.remove();
  }

  async close(): Promise<void> {
    this.remove();
    await this.#endpoint?.close();
  }

  #warn(message: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#log({ level: 'warn', message, fields: { reason } });
  }
}
