// LogEntry: one line of the log, before it is text.

/** Fields that every line has, with the name of the service that writes it. */
type OwnField = 'time' | 'level' | 'service' | 'message';

/** Further fields of a line, by name. A field that every line has is none of them: it would be lost. */
export type LogFields = Readonly<Record<string, string | number | boolean>> & {
  readonly [Name in OwnField]?: never;
};

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields?: LogFields;
}
