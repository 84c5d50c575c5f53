// What a shard may write: tried with a clock of its own.
import { describe, expect, test } from 'vitest';
import { entryBytes, LogRate } from '../../kit/log-rate.ts';
import type { LogLimits } from '../../kit/log-limits.ts';
import type { LogEntry } from '../../kit/log-entry.ts';

const LIMITS: LogLimits = {
  linesPerSecond: 10,
  bytesPerSecond: 10_000,
  burstSeconds: 2,
  waitingBytesMax: 1_000_000,
};

function logRate(limits: Partial<LogLimits> = {}) {
  const posted: LogEntry[] = [];
  let notWritten = 0;
  const rate = new LogRate(
    { ...LIMITS, ...limits },
    0,
    (entry) => posted.push(entry),
    () => notWritten++,
  );
  return {
    rate,
    posted,
    messages: () => posted.map(({ message }) => message),
    notWritten: () => notWritten,
    write: (count: number, nowMs: number, message = 'line') => {
      for (let line = 0; line < count; line++) rate.write({ level: 'info', message }, nowMs);
    },
  };
}

describe('a log that is flooded', () => {
  test('takes the lines of its burst, and counts the rest', () => {
    const { write, posted, notWritten } = logRate();
    write(1000, 0);
    expect(posted).toHaveLength(20);
    expect(notWritten()).toBe(980);
  });

  test('takes the bytes of its burst, of the fields as of the message', () => {
    const { rate, posted } = logRate({ linesPerSecond: 1000 });
    for (let line = 0; line < 100; line++)
      rate.write({ level: 'info', message: 'x'.repeat(900), fields: { from: 'y'.repeat(996) } }, 0);
    expect(posted).toHaveLength(10);
  });

  test('counts the bytes of UTF-8, not the characters', () => {
    const entry: LogEntry = { level: 'info', message: '漢'.repeat(100), fields: { a: 'ä' } };
    expect(entryBytes(entry)).toBe(100 + 300 + 3);
  });

  test('says how many lines were not written before the next one that is', () => {
    const { write, messages } = logRate();
    write(30, 0);
    write(1, 100, 'no room for two');
    write(1, 200, 'after');
    expect(messages().slice(20)).toEqual(['11 lines were not written', 'after']);
  });

  test('says so in its turn when nothing more comes, once', () => {
    const { rate, write, messages } = logRate();
    write(25, 0);
    rate.report(0);
    expect(messages()).toHaveLength(20);
    rate.report(1000);
    rate.report(1000);
    expect(messages().slice(20)).toEqual(['5 lines were not written']);
  });

  test('is paid for the lines about lines', () => {
    const { rate, write, posted } = logRate({ burstSeconds: 1 });
    for (let nowMs = 0; nowMs < 10_000; nowMs += 10) {
      write(50, nowMs);
      rate.report(nowMs);
    }
    expect(posted.length).toBeLessThanOrEqual(10 + 10 * 10);
  });

  test('has room again with time, up to a burst', () => {
    const { write, messages } = logRate();
    write(20, 0);
    write(1000, 3_600_000, 'an hour later');
    expect(messages().filter((message) => message === 'an hour later')).toHaveLength(20);
  });
});

describe('a main thread that does not write', () => {
  test('is given no more than may wait for it, and after it has written, more', () => {
    const message = 'x'.repeat(900);
    const { rate, write, posted, notWritten } = logRate({
      linesPerSecond: 1000,
      bytesPerSecond: 1_000_000,
      waitingBytesMax: 10_000,
    });
    write(50, 0, message);
    expect(posted).toHaveLength(10);
    expect(notWritten()).toBe(40);
    rate.written(posted.slice(0, 5).reduce((bytes, entry) => bytes + entryBytes(entry), 0));
    write(50, 0, message);
    // One of the five is the line about the others, and it is shorter.
    expect(posted.slice(10).map(({ message: said }) => said.slice(0, 8))).toEqual([
      '40 lines',
      ...Array.from({ length: 4 }, () => 'xxxxxxxx'),
    ]);
  });
});
