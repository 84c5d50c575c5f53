// WebLog: two logs on one stderr: that of svc and the output of the process. As text, each line begins with its source; as
// JSON, a line of the process has the field `from`. Text of the process never reaches a terminal unescaped.
import { styleText } from 'node:util';
import { createLog, type Log } from '@svc/kit/log';
import { printable } from '@svc/kit/printable';
import type { OutputStream } from '@svc/kit/command-process';

/** Name of svc as a source. */
const OWN = 'svc';
const TAB = '    ';

export interface WebLog {
  readonly log: Log;
  /** Writes a line of the process's output. */
  readonly processLine: (stream: OutputStream, line: string) => void;
}

/** `service`: name of the service, which is also the source of the process's lines. */
export function createWebLog(service: string, format: 'text' | 'json'): WebLog {
  if (format === 'json') {
    const log = createLog(service, 'json');
    return {
      log,
      processLine: (stream, message) =>
        log({ level: 'info', message, fields: { from: 'process', stream } }),
    };
  }
  const width = Math.max(OWN.length, service.length);
  const prefix = (source: string, style: 'cyan' | 'magenta') =>
    styleText(style, `${source.padEnd(width)} | `, { stream: process.stderr });
  const ofProcess = prefix(service, 'magenta');
  return {
    log: createLog(service, 'text', { prefix: prefix(OWN, 'cyan') }),
    processLine: (_stream, line) =>
      void process.stderr.write(`${ofProcess}${printable(line.replaceAll('\t', TAB))}\n`),
  };
}
