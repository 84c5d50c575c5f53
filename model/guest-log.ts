// GuestLog: receives the lines that a module logs.

export type GuestLogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface GuestLogLine {
  readonly level: GuestLogLevel;
  /** The module's own text: escape it before printing. */
  readonly message: string;
  /** Source of the line: `component NAME`, `endpoint NAME`, or `module` during its start. */
  readonly source: string;
}

export type GuestLog = (line: GuestLogLine) => void;
