// Log files on a disk that takes all lines, on one that takes none for a while, and at the end of a process.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LogFiles, type LogFilesOptions } from '../../kit/log-files.ts';
import { LOG_FILES_DEFAULT, type LogFilesLimits } from '../../kit/log-files-limits.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MODULE = new URL('../../kit/log-files.ts', import.meta.url).href;

function logFiles(
  folder: string,
  limits: Partial<LogFilesLimits> = {},
  callbacks: Partial<LogFilesOptions> = {},
): LogFiles {
  return new LogFiles(folder, {
    limits: { ...LOG_FILES_DEFAULT, ...limits },
    onFailure: (error) => expect.unreachable(String(error)),
    onDropped: (lines) => expect.unreachable(`${lines} lines were dropped`),
    retryMs: 1,
    ...callbacks,
  });
}

const read = (folder: string, file = 'service.log') => readFileSync(join(folder, file), 'utf8');
const numbered = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `line ${first + index}\n`).join('');

test('lines are in the file in their order, after those of an earlier process', async () => {
  const folder = join(temporaryFolder(), 'logs');
  for (const [first, last] of [
    [1, 100],
    [101, 200],
  ] as const) {
    const files = logFiles(folder);
    for (let line = first; line <= last; line++) {
      files.write(`line ${line}\n`);
      if (line % 10 === 0) await setImmediate();
    }
    await files.close();
  }
  expect(read(folder)).toBe(numbered(1, 200));
});

test('a full file is kept under a number, the oldest is removed, and no line is torn', async () => {
  const folder = temporaryFolder();
  const files = logFiles(folder, { bytesMax: 4_096, countMax: 3 });
  for (let line = 1; line <= 3_000; line++) {
    files.write(`line ${line}\n`);
    if (line % 100 === 0) await setImmediate();
  }
  await files.close();
  const names = ['service.log', 'service.log.1', 'service.log.2'];
  expect(readdirSync(folder).toSorted()).toEqual(names);
  for (const name of names) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(4_096);
  const text = names
    .toReversed()
    .map((name) => read(folder, name))
    .join('');
  const first = Number(/^line (\d+)\n/.exec(text)![1]);
  expect(text).toBe(numbered(first, 3_000));
});

test('a line that is longer than a file has a file of its own', async () => {
  const folder = temporaryFolder();
  const files = logFiles(folder, { bytesMax: 4_096, countMax: 5 });
  const long = `${'x'.repeat(9_000)}\n`;
  for (const line of ['first\n', long, 'last\n']) files.write(line);
  await files.close();
  expect(['.2', '.1', ''].map((end) => read(folder, `service.log${end}`))).toEqual([
    'first\n',
    long,
    'last\n',
  ]);
});

test('with a single file, its lines are dropped when it is full', async () => {
  const folder = temporaryFolder();
  const files = logFiles(folder, { bytesMax: 4_096, countMax: 1 });
  for (let line = 1; line <= 1_000; line++) files.write(`line ${line}\n`);
  await files.close();
  expect(readdirSync(folder)).toEqual(['service.log']);
  expect(read(folder)).toMatch(/^line \d+\n(?:line \d+\n)*line 1000\n$/);
});

test('only the user of the service may read the files and their folder', async () => {
  const folder = join(temporaryFolder(), 'logs');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'service.log'), '', { mode: 0o666 });
  const files = logFiles(folder, { bytesMax: 4_096 });
  for (let line = 1; line <= 1_000; line++) files.write(`line ${line}\n`);
  await files.close();
  expect(readdirSync(folder).length).toBeGreaterThan(1);
  for (const name of readdirSync(folder))
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

test('hard case 29: lines wait for a disk that takes none, those that cannot wait are counted, and the number is reported', async () => {
  const parent = temporaryFolder();
  const folder = join(parent, 'logs');
  writeFileSync(folder, 'a file where the folder should be');
  const failures: unknown[] = [];
  const failed = Promise.withResolvers<void>();
  const dropped = Promise.withResolvers<number>();
  const files = logFiles(
    folder,
    { waitingBytesMax: 1_000 },
    {
      onFailure: (error) => {
        failures.push(error);
        failed.resolve();
      },
      onDropped: (lines) => {
        files.write(`${lines} lines were dropped\n`);
        dropped.resolve(lines);
      },
    },
  );
  // Each line has ten bytes.
  for (let line = 100; line < 300; line++) files.write(`line  ${line}\n`);
  await failed.promise;
  rmSync(folder);
  expect(await dropped.promise).toBe(100);
  files.write('and on\n');
  await files.close();
  const lines = Array.from({ length: 100 }, (_, index) => `line  ${100 + index}\n`).join('');
  expect(read(folder)).toBe(`${lines}100 lines were dropped\nand on\n`);
  expect(failures).toHaveLength(1);
});

test('a program does not wait for a disk that takes no lines when it ends', async () => {
  const file = join(temporaryFolder(), 'logs');
  writeFileSync(file, '');
  const failed = Promise.withResolvers<unknown>();
  const files = logFiles(file, {}, { onFailure: failed.resolve, retryMs: 1_000_000 });
  files.write('lost\n');
  await failed.promise;
  await files.close();
  expect(readFileSync(file, 'utf8')).toBe('');
});

test('the lines before an unexpected end of the process are written', () => {
  const folder = temporaryFolder();
  const script = `import { readFileSync } from 'node:fs';
    import { LogFiles } from ${JSON.stringify(MODULE)};
    const files = new LogFiles(${JSON.stringify(folder)}, { onFailure() {}, onDropped() {} });
    files.write('first\\n');
    for (;;) {
      try { if (readFileSync(${JSON.stringify(join(folder, 'service.log'))}, 'utf8') !== '') break; } catch {}
      await new Promise(setImmediate);
    }
    files.write('last\\n');
    throw new Error('unexpected');`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  expect(status).toBe(1);
  expect(read(folder)).toBe('first\nlast\n');
});
