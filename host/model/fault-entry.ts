// FaultEntry: a line of the log that may be about a guest's fault.
import type { LogEntry } from '@svc/kit/log-entry';
import type { WasmFrame } from './guest-fault.ts';

export interface FaultEntry extends LogEntry {
  /** Where the guest's code was. */
  readonly frames?: readonly WasmFrame[] | undefined;
}
