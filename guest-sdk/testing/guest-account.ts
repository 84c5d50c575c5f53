// GuestAccount: what went on in a guest, for the message of a test that fails: what it logged, and
// the last words of a fault, with their place as a path that an editor opens.
import { GuestFault, type GuestLogLine, SvcError } from '@svc/host/tools';
import { shown } from './test-failure.ts';

const LINES_SHOWN_MAX = 20;
/** `at cart.ts:12:3`, at the end of a module's last words. */
const PLACE = / at (?!~lib\/)([^\s:]+\.ts:\d+:\d+)$/;

export class GuestAccount {
  readonly #folder: string;
  #lines: GuestLogLine[] = [];

  /** `folder`: what the places are relative to. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  readonly log = (line: GuestLogLine): void => {
    this.#lines.push(line);
  };

  /** Forgets what was logged before the present call. */
  begin(): void {
    this.#lines = [];
  }

  /** The end of a message: what the module logged, or nothing. */
  logged(): string {
    if (this.#lines.length === 0) return '';
    const lines = this.#lines
      .slice(-LINES_SHOWN_MAX)
      .map(({ level, message }) => `\n  ${level.padEnd(5)} ${shown(message)}`);
    return `\nThe module logged:${lines.join('')}`;
  }

  /** What a fault or a failure says, and the module's last words. */
  reason(fault: unknown): string {
    if (fault instanceof SvcError) return `${shown(fault.message, 1000)} [${fault.code}]`;
    if (!(fault instanceof GuestFault)) throw fault;
    if (fault.guestMessage === undefined) return shown(fault.message, 1000);
    const words = fault.guestMessage.replace(
      PLACE,
      (_, place: string) => ` at ${this.#folder === '' ? '' : `${this.#folder}/`}${place}`,
    );
    return shown(words, 1000);
  }
}
