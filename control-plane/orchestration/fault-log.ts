// FaultLog: the failures of the orchestrator, or of what a request stores by the way, in the log, one line in ten seconds however many there are.
import type { LogEntry } from '@svc/kit/log-entry';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type { ServiceKey } from '@svc/client';
import type { Clock } from '@svc/kit/clock';

const PAUSE_MS = 10_000;
const MESSAGE_LENGTH_MAX = 1000;

export class FaultLog {
  readonly #log: (entry: LogEntry) => void;
  readonly #clock: Clock;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #notWritten = 0;

  constructor(log: (entry: LogEntry) => void, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** `what`: what failed, as in "The orchestrator did not observe a service". */
  report(what: string, key: ServiceKey | undefined, error: unknown): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#writtenMs < PAUSE_MS) {
      this.#notWritten++;
      return;
    }
    const more = this.#notWritten === 0 ? '' : ` (and ${this.#notWritten} failures before it)`;
    this.#writtenMs = nowMs;
    this.#notWritten = 0;
    this.#log({
      level: 'warn',
      message: `${what}: ${messageOf(error)}${more}`,
      ...(key !== undefined && {
        fields: { key: printable(`${key.project}/${key.service}`.slice(0, 200)) },
      }),
    });
  }
}

function messageOf(error: unknown): string {
  let text: string;
  try {
    text = error instanceof Error ? error.message : String(error);
    if (error instanceof SvcError) text = `${text} [${error.code}]`;
  } catch {
    text = 'an error without words';
  }
  return printable(text.slice(0, MESSAGE_LENGTH_MAX));
}
