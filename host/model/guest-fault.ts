// GuestFault: a module broke a rule or a limit. Its instance is thrown away; the caller learns only
// that it happened (500, or 504 for fuel and time), the log learns the rest.

import type { LimitName } from './limit-name.ts';

/** Which kind of rule or limit it was. */
export type FaultCause =
  | 'trap' // unreachable, abort, out of bounds, an import outside its phase
  | 'fuel'
  | 'time'
  | 'memory'
  | 'stack'
  | 'value' // a pointer, length, tag or string that the canonical ABI does not allow
  | 'limit'; // too many or too large values: events, replies, calls

/** A place in a module's code as it runs. */
export interface WasmFrame {
  readonly functionIndex: number;
  /** Bytes from the beginning of the module. */
  readonly offset: number;
}

interface FaultOptions {
  readonly limit?: LimitName | undefined;
  readonly guestMessage?: string | undefined;
  readonly logLines?: readonly string[] | undefined;
  readonly frames?: readonly WasmFrame[] | undefined;
  readonly cause?: unknown;
}

export class GuestFault extends Error {
  readonly faultCause: FaultCause;
  /** Which limit it met; undefined when it broke a rule. */
  readonly limit: LimitName | undefined;
  /** The module's own last words, `abort: message at file:line:column`; for the log, never for a caller. */
  readonly guestMessage: string | undefined;
  /**
   * The last lines that the module logged in the call that failed, the oldest first, as much as `lastLogLines` keeps;
   * undefined where there are none. For the log, never for a caller.
   */
  readonly logLines: readonly string[] | undefined;
  /** Where its code was, the innermost first; undefined where that is not known. */
  readonly frames: readonly WasmFrame[] | undefined;

  constructor(faultCause: FaultCause, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'GuestFault';
    this.faultCause = faultCause;
    this.limit = options.limit;
    this.guestMessage = options.guestMessage;
    this.logLines = options.logLines;
    this.frames = options.frames;
  }

  /** The same fault with a message that says more; this one is its cause. */
  explained(message: string): GuestFault {
    const { faultCause, limit, guestMessage, logLines, frames } = this;
    const options = { limit, guestMessage, logLines, frames, cause: this };
    return new GuestFault(faultCause, message, options);
  }
}
