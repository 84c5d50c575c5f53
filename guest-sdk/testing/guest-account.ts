// GuestAccount: the log lines and the fault of a guest for the message of a failed test, with source locations as
// paths that an editor opens.
import { GuestFault, type GuestLogLine, SvcError } from '@svc/host/tools';
import { shown } from './test-failure.ts';

const LINES_SHOWN_MAX = 20;
/** Matches `at cart.ts:12:3` at the end of a module's abort message. */
const LOCATION = / at (?!~lib\/)([^\s:]+\.ts:\d+:\d+)$/;

export class GuestAccount {
  readonly #folder: string;
  #lines: GuestLogLine[] = [];

  /** `folder`: folder that the paths of locations are relative to. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  readonly log = (line: GuestLogLine): void => {
    this.#lines.push(line);
  };

  /** Removes the log lines of earlier calls. */
  begin(): void {
    this.#lines = [];
  }

  /** Returns the end of a message: the module's last log lines; '' if there are none. */
  logged(): string {
    if (this.#lines.length === 0) return '';
    const lines = this.#lines
      .slice(-LINES_SHOWN_MAX)
      .map(({ level, message }) => `\n  ${level.padEnd(5)} ${shown(message)}`);
    return `\nThe module logged:${lines.join('')}`;
  }

  /** Returns the reason of a fault or a failure, with the module's abort message. Rethrows any other error. */
  reason(fault: unknown): string {
    if (fault instanceof SvcError) return `${shown(fault.message, 1000)} [${fault.code}]`;
    if (!(fault instanceof GuestFault)) throw fault;
    if (fault.guestMessage === undefined) return shown(fault.message, 1000);
    const words = fault.guestMessage.replace(
      LOCATION,
      (_, location: string) => ` at ${this.#folder === '' ? '' : `${this.#folder}/`}${location}`,
    );
    return shown(words, 1000);
  }
}
