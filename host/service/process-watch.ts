// ProcessWatch keeps a stream of the service's main thread to the process that holds its code: by it the service knows whether the process is
// there, and whether it is still the same.
import { NO_SHARD } from '../hosting/guest-shard.ts';
import { ProcessLink } from '../hosting/process/process-link.ts';
import type { ProcessSource } from '../hosting/process/process-source.ts';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';

export class ProcessWatch {
  readonly address: string;
  /** Name and version of the SDK of the process. */
  readonly sdk: string;
  readonly #link: ProcessLink;
  #problem: string | undefined;

  /** `replaced`: called once with SVC_PROCESS_REPLACED when other code is at the address. */
  constructor(source: ProcessSource, log: Log, replaced: (error: SvcError) => void) {
    const { address } = source.connection;
    this.address = address;
    this.sdk = source.sdk;
    this.#link = new ProcessLink({
      source,
      ofShard: NO_SHARD,
      log: () => {},
      changed: (why) => {
        const message = `the process at ${address} ${why ?? 'is there'}`;
        if (why === undefined) log({ level: 'info', message });
        // Further attempts that fail are not logged.
        else if (this.#problem === undefined) log({ level: 'warn', message });
        this.#problem = why && `The process at ${address} ${why}.`;
      },
      replaced: () => replaced(processReplaced(address)),
    });
  }

  /** Looks for the process once; then it is looked for until it is there. Rejects as `ProcessLink.open` does. */
  open(): Promise<void> {
    return this.#link.open();
  }

  /** Why the process does not serve; undefined if it does. */
  get problem(): string | undefined {
    return this.#problem;
  }

  close(): void {
    this.#link.close();
  }
}

function processReplaced(address: string): SvcError {
  return new SvcError(
    'SVC_PROCESS_REPLACED',
    `The process at ${address} was replaced by one with other code. Start the service again: then that code is served.`,
  );
}
