// LocatedLog is the text log on a developer's machine: below the line of a module's fault it writes the source
// location. Lines are written in the order in which they were logged. A line waits while a fault before it is located
// by another thread; code that logs never waits.
import type { SourceLocation } from '@svc/contract';
import type { FaultEntry } from '@svc/model/fault-entry';
import type { Log } from '@svc/kit/log';
import type { FaultySpan } from './located-faults.ts';

/** While more lines than this are waiting, faults are not located. */
const LINES_WAITING_MAX = 100;

/** Locates a fault. Never rejects. */
export type LocationFinder = (span: FaultySpan) => Promise<readonly SourceLocation[]>;

export class LocatedLog {
  readonly #write: Log;
  readonly #find: LocationFinder;
  /** Number of lines that wait or are being written. */
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  /**
   * Fault of the line that was written last, as JSON text; undefined if that line has none. A fault of an entity also
   * fails the request that called it, and is located once if both lines follow each other.
   */
  #lastFault: string | undefined;

  constructor(write: Log, find: LocationFinder) {
    this.#write = write;
    this.#find = find;
  }

  readonly log = (entry: FaultEntry): void => {
    const hasFault = entry.frames !== undefined || entry.fields?.['guestMessage'] !== undefined;
    if (this.#waiting === 0 && !hasFault) {
      void this.#writeLine(entry, undefined);
      return;
    }
    this.#waiting += 1;
    this.#last = this.#last.then(async () => {
      await this.#writeLine(entry, hasFault ? spanOf(entry) : undefined);
      this.#waiting -= 1;
    });
  };

  /** Resolves once all lines are written. */
  async settled(): Promise<void> {
    await this.#last;
  }

  async #writeLine(entry: FaultEntry, span: FaultySpan | undefined): Promise<void> {
    this.#write(entry);
    const fault = span && JSON.stringify(entry.frames ?? span.fault);
    const isNew = fault !== this.#lastFault;
    this.#lastFault = fault;
    if (span === undefined || !isNew || this.#waiting > LINES_WAITING_MAX) return;
    const [location] = await this.#find(span);
    if (location === undefined) return;
    const { file, line, column, function: name } = location;
    const where = `${file}:${line}${column === null ? '' : `:${column}`}`;
    this.#write({ level: entry.level, message: `at ${where}${name === null ? '' : ` (${name})`}` });
  }
}

/**
 * Returns a span that has the fault of a log line: a span of the consumer, of the entity, or of the request, which its route
 * identifies.
 * The start `Infinity` stands for the module that is served now.
 */
function spanOf({ frames, fields = {}, message }: FaultEntry): FaultySpan {
  const { consumer, component, handler, route } = fields;
  const nothing = { code: '', reason: '', limit: undefined, errorId: undefined };
  const guestMessage = fields['guestMessage']?.toString();
  const fault = { startMs: Infinity, fault: { ...nothing, guestMessage, frames } };
  if (consumer !== undefined)
    return { kind: 'consumer', component: `${consumer}`, handler: component?.toString(), ...fault };
  return {
    kind: component === undefined ? 'endpoint' : 'command',
    component: `${component ?? route ?? message}`,
    handler: handler?.toString(),
    ...fault,
  };
}
