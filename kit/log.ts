// Log: the log of the host and its guests on stderr, or where else its lines are to go: JSON lines for programs, or one
// line of text each for a person. Text of a guest or a caller never reaches a terminal unescaped, and never looks like a field of its
// line. If stderr is a pipe or a terminal, writing waits for its reader: the thread that logs blocks
// meanwhile, and log-rate.ts bounds the lines that queue for it.
import { pino, type DestinationStream } from 'pino';
import { printable, printableJson } from './printable.ts';
import type { LogEntry } from './log-entry.ts';

export type Log = (entry: LogEntry) => void;

export interface LogOutput {
  /** Text at the beginning of each line of the format text. */
  readonly prefix?: string;
  /** Receives each line with its line feed. Default: it goes to stderr. */
  readonly write?: (line: string) => void;
}

export function createLog(
  service: string,
  format: 'text' | 'json',
  { prefix = '', write = (line) => void process.stderr.write(line) }: LogOutput = {},
): Log {
  const shown = format === 'json' ? printableJson : (json: string) => `${prefix}${textLine(json)}`;
  const lines: DestinationStream = { write: (line) => write(shown(line)) };
  const logger = pino(
    {
      level: 'debug',
      base: { service },
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    lines,
  );
  return ({ level, message, fields }) => logger[level](fields ?? {}, message);
}

/** Formats a line of JSON as `time level message field=value field="several words"`. */
export function textLine(json: string): string {
  const {
    time,
    level,
    message,
    service: _service,
    ...fields
  } = JSON.parse(json) as Record<string, unknown>;
  const details = Object.entries(fields)
    .map(([name, value]) => ` ${name}=${fieldValue(value)}`)
    .join('');
  const start = `${String(time).slice(11, 19)} ${String(level).padEnd(5)}`;
  return `${printable(`${start} ${messageText(String(message))}${details}`)}\n`;
}

/** Quotes a message that contains `=` or `"`, so that no part of the message looks like a field. */
function messageText(message: string): string {
  return /[="]/.test(message) ? JSON.stringify(message) : message;
}

function fieldValue(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return /^[^\s="]+$/.test(value) ? value : JSON.stringify(value);
}
