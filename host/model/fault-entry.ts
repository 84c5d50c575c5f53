// FaultEntry: a log entry that may be about a guest's fault.
import type { LogEntry } from '@svc/kit/log-entry';
import type { WasmFrame } from './guest-fault.ts';

export interface FaultEntry extends LogEntry {
  /** Source locations of the guest's fault. */
  readonly frames?: readonly WasmFrame[] | undefined;
}
