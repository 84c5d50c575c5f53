// LogEntry: one line of the log, before it is text.
import type { WasmFrame } from '../model/guest-fault.ts';

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields?: Readonly<Record<string, string | number | boolean>>;
  /** Of a guest's fault: where its code was. */
  readonly frames?: readonly WasmFrame[] | undefined;
}
