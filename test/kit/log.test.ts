import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { textLine } from '../../kit/log.ts';
import type { LogEntry } from '../../kit/log-entry.ts';

const shown = (message: string, fields: object = {}) =>
  textLine(
    JSON.stringify({
      time: '2030-01-01T12:34:56.789Z',
      level: 'info',
      service: 's',
      ...fields,
      message,
    }),
  );

test('a line of text has its time, its level, what happened, and the fields', () => {
  expect(shown('listening', { url: 'http://[::1]:9000', pid: 7, reason: 'it is time' })).toBe(
    '12:34:56 info  listening url=http://[::1]:9000 pid=7 reason="it is time"\n',
  );
});

test.each([
  ['done entity=cart/a', '"done entity=cart/a"'],
  ['"quoted"', String.raw`"\"quoted\""`],
])('a message cannot look like one with fields: %s', (message, expected) => {
  expect(shown(message, { from: 'cart/b' })).toBe(`12:34:56 info  ${expected} from=cart/b\n`);
});

test.each([
  ['a b=c', '"a b=c"'],
  ['a=b', '"a=b"'],
  ['', '""'],
  ['a" b', String.raw`"a\" b"`],
  ['a\u00a0b', '"a\u00a0b"'],
])('a field cannot look like two: %j', (value, expected) => {
  expect(shown('said', { value, next: 'x' })).toBe(
    `12:34:56 info  said value=${expected} next=x\n`,
  );
});

test('what a text line shows of a guest is printable', () => {
  expect(shown('red \u001b[31m', { from: 'a\u202e', 'odd\u009b': 'x\ny' })).toBe(
    `12:34:56 info  red \\u{1b}[31m from=a\\u{202e} odd\\u{9b}="x\\ny"\n`,
  );
});

test('a field has no name of those that every line has', () => {
  // @ts-expect-error The line would not say which service has written it.
  const service: LogEntry = { level: 'info', message: 'm', fields: { service: 'x' } };
  // @ts-expect-error
  const level: LogEntry = { level: 'info', message: 'm', fields: { level: 'x' } };
  // @ts-expect-error
  const time: LogEntry = { level: 'info', message: 'm', fields: { time: 1 } };
  // @ts-expect-error
  const message: LogEntry = { level: 'info', message: 'm', fields: { message: 'x' } };
  const called: LogEntry = { level: 'info', message: 'm', fields: { called: 'x' } };
  expect([service, level, time, message, called]).toHaveLength(5);
});

const log = join(import.meta.dirname, '..', '..', 'kit', 'log.ts');
const program = `
  import { createLog } from ${JSON.stringify(log)};
  const { format, entry } = JSON.parse(process.argv[1]);
  createLog('carts', format)(entry);`;

/** What a log writes in a process of its own. */
function written(format: 'text' | 'json', entry: LogEntry): string {
  const words = [
    '--input-type=module-typescript',
    '--eval',
    program,
    JSON.stringify({ format, entry }),
  ];
  return spawnSync(process.execPath, words, { encoding: 'utf8' }).stderr;
}

test('a line of JSON shows no harmful character, and still says what was said', () => {
  const entry = {
    level: 'warn',
    message: 'c1 \u009b del \u007f \u202e bidi \u2028',
    fields: { from: 'zero\u200bwidth \ufeff \ud800' },
  } as const;
  const line = written('json', entry);
  expect(JSON.parse(line)).toMatchObject({
    level: 'warn',
    service: 'carts',
    message: entry.message,
    from: entry.fields.from,
  });
  expect(line).toMatch(/^[\u0020-\u007e]+\n$/);
});

test('a log of text is written as text', () => {
  expect(written('text', { level: 'info', message: 'stopping', fields: { reason: 'x' } })).toMatch(
    /^\d\d:\d\d:\d\d info {2}stopping reason=x\n$/,
  );
});
