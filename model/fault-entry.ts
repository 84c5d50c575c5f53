// FaultEntry: a log entry that may be about a guest's fault.
import type { LogEntry } from '@svc/kit/log-entry';
import type { WasmFrame } from './guest-fault.ts';

export interface FaultEntry extends LogEntry {
  /** Call stack of the guest's fault, as code positions, innermost frame first; undefined if it is unknown. */
  readonly frames?: readonly WasmFrame[] | undefined;
}
