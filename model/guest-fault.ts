// GuestFault: a module broke a rule or exceeded a limit. Its instance is discarded. The caller learns only that it
// happened (500, or 504 for fuel and time); the log has the rest.

import type { LimitName } from './limit-name.ts';

/** The kinds of rules and limits. */
export const FAULT_CAUSES = [
  'trap', // unreachable, abort, out of bounds, an import outside its phase
  'fuel',
  'time',
  'memory',
  'stack',
  'value', // a pointer, length, tag or string that the canonical ABI does not allow
  'limit', // too many or too large values: events, replies, calls
] as const;
export type FaultCause = (typeof FAULT_CAUSES)[number];

/** A position in the code of a module. */
export interface WasmFrame {
  readonly functionIndex: number;
  /** Offset from the beginning of the module, in bytes. */
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
  /** Limit that the module exceeded; undefined if it broke a rule. */
  readonly limit: LimitName | undefined;
  /** The module's abort message, `abort: message at file:line:column`. It is for the log, never for a caller. */
  readonly guestMessage: string | undefined;
  /**
   * The last lines that the module logged in the failed call, oldest first, as many as `lastLogLines` keeps;
   * undefined if there are none. They are for the log, never for a caller.
   */
  readonly logLines: readonly string[] | undefined;
  /** Call stack of the module's code, innermost frame first; undefined if it is unknown. */
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

  /** Returns the same fault with a message that says more; this fault is its cause. */
  explained(message: string): GuestFault {
    const { faultCause, limit, guestMessage, logLines, frames } = this;
    const options = { limit, guestMessage, logLines, frames, cause: this };
    return new GuestFault(faultCause, message, options);
  }
}
