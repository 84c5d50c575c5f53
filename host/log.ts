// Log: what the host and its guests have to say, on stderr: JSON lines for programs, or one line of
// text each for a person. Text of a guest or a caller never reaches a terminal unescaped.
import { pino, type DestinationStream } from 'pino';
import type { LogEntry } from './shard-messages.ts';

export type Log = (entry: LogEntry) => void;

export function createLog(service: string, format: 'text' | 'json'): Log {
  const stderr: DestinationStream = { write: (line) => void process.stderr.write(line) };
  const logger = pino(
    {
      level: 'debug',
      base: { service },
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    format === 'json' ? stderr : { write: (line) => void process.stderr.write(textLine(line)) },
  );
  return ({ level, message, fields }) => logger[level](fields ?? {}, message);
}

function textLine(json: string): string {
  const {
    time,
    level,
    message,
    service: _service,
    ...fields
  } = JSON.parse(json) as Record<string, unknown>;
  const details = Object.entries(fields)
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('');
  const line = `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(message)}${details}`;
  return `${escapeControls(line)}\n`;
}

/** Control characters (C0, C1, DEL), line separators and lone surrogates as `\u{…}`. */
export function escapeControls(text: string): string {
  return text.toWellFormed().replaceAll(
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
