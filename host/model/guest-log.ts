// GuestLog: where the lines go that a module writes.

export type GuestLogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface GuestLogLine {
  readonly level: GuestLogLevel;
  /** The module's own text: escape it where it is printed. */
  readonly message: string;
  /** Who wrote it: `component NAME`, `endpoint NAME`, or `module` while it started. */
  readonly source: string;
}

export type GuestLog = (line: GuestLogLine) => void;
