// KilledWebhooks: `svc webhook-service` on one folder or database, killed and started again, and a client of the process that runs now.
import { createWebhooksClient, type WebhooksClient } from '@svc/client';
import type { Ended } from './host-process.ts';
import type { IdentityProvider } from './identity-provider/identity-provider.ts';
import { WebhookProcess } from './webhook-process.ts';
import { within } from './within.ts';

/** More than a start takes on a busy machine, with the wait for a lease. */
const START_S = 40;

export interface KilledWebhooksOptions {
  readonly provider: IdentityProvider;
  /** The working directory, with the data. */
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Access token of a caller who is an administrator of the tenant, and the platform. */
  readonly token: string;
}

export class KilledWebhooks {
  readonly #options: KilledWebhooksOptions;
  #process: WebhookProcess | undefined;
  #client = Promise.withResolvers<WebhooksClient>();
  #listening: Promise<void> = Promise.resolve();
  #isListening = false;

  constructor(options: KilledWebhooksOptions) {
    this.#options = options;
  }

  /** Resolves with the client of a process that listens, which may be the next one. */
  get client(): Promise<WebhooksClient> {
    return this.#client.promise;
  }

  get stderr(): string {
    return this.#process?.stderr ?? '';
  }

  /** Resolves once the process has ended, by itself or because of a signal. */
  get ended(): Promise<Ended> {
    return this.#process!.ended;
  }

  /** `env`: that of this process alone. */
  start(env: NodeJS.ProcessEnv = {}): void {
    const { provider, cwd, env: ofAll, token } = this.#options;
    this.#process = new WebhookProcess(provider, cwd, [], { ...ofAll, ...env });
    this.#listening = this.#process.listening().then((baseUrl) => {
      this.#isListening = true;
      this.#client.resolve(createWebhooksClient({ baseUrl, token, retries: { attemptsMax: 1 } }));
    });
    // A process that is killed before it listens.
    this.#listening.catch(() => {});
  }

  async listening(): Promise<void> {
    await within(START_S, () => `the service to start: ${this.stderr}`, this.#listening);
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** For one that has ended already, too. */
  async end(signal: NodeJS.Signals): Promise<Ended> {
    if (this.#isListening) this.#client = Promise.withResolvers();
    this.#isListening = false;
    return await this.#process!.end(signal);
  }
}
