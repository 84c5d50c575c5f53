// LogEntry: one line of the log, before it is text.

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields?: Readonly<Record<string, string | number | boolean>>;
}
