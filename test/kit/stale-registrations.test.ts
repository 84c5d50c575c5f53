// Registration files that killed processes have left are removed, and nothing else is.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  newInstanceId,
  removeInstance,
  removeStaleRegistrations,
} from '../../kit/stale-registrations.ts';
import { filesIn } from '../support/observed-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const NOT_ON_WINDOWS = 'Windows has no links and pipes of this kind';

/** The number of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

function registration(pid: number, instanceId = newInstanceId()) {
  return {
    name: 'cart',
    instanceId,
    pid,
    observabilityAddress: 'http://127.0.0.1:1234',
    startedAt: '2030-01-02T03:04:05.678Z',
  };
}

type Registration = ReturnType<typeof registration>;

function write(folder: string, name: string, content: Registration | string): string {
  const text = typeof content === 'string' ? content : `${JSON.stringify(content)}\n`;
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return name;
}

test('an instance id is one of its own', () => {
  const ids = Array.from({ length: 100 }, newInstanceId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(new Set(ids).size).toBe(100);
});

describe('of a process that has ended', () => {
  test('every form of the file is removed', () => {
    const folder = temporaryFolder();
    const pid = deadPid();
    const [first, second, third] = [registration(pid), registration(pid), registration(pid)];
    write(folder, `${pid}.json`, first);
    write(folder, `${pid}-${second.instanceId}.json`, second);
    write(folder, `.${pid}-${third.instanceId}.tmp`, third);
    removeStaleRegistrations(folder);
    expect(filesIn(folder)).toEqual([]);
  });

  test('whose namespace is another the file stays: the number may be a living process there', () => {
    const folder = temporaryFolder();
    const pid = deadPid();
    const own = newInstanceId();
    const foreign = (own.startsWith('0') ? '1' : '0') + own.slice(1);
    const name = write(folder, `${pid}.json`, registration(pid, foreign));
    removeStaleRegistrations(folder);
    expect(filesIn(folder)).toEqual([name]);
  });
});

test('a number that is in use again keeps the file', () => {
  const folder = temporaryFolder();
  const own = registration(process.pid);
  const files = [
    write(folder, `${process.pid}.json`, own),
    write(folder, `${process.ppid}.json`, registration(process.ppid)),
    write(folder, '1.json', registration(1)),
  ];
  removeStaleRegistrations(folder);
  expect(filesIn(folder).toSorted()).toEqual(files.toSorted());
});

test('what is no registration of its name stays', () => {
  const folder = temporaryFolder();
  const pid = deadPid();
  const of = registration(pid);
  const files = [
    write(folder, `${pid}.json`, ''),
    write(folder, `${pid}-${newInstanceId()}.json`, of),
    write(folder, `${pid + 1}.json`, of),
    write(folder, `${pid}.json.bak`, of),
    write(folder, 'notes.txt', 'mine'),
    write(folder, `.${pid}-${newInstanceId()}.tmp`, '{"name":"half of'),
    write(folder, `${pid}-${of.instanceId}.json`, { ...of, name: 'x'.repeat(5_000) }),
    write(folder, '7.json', JSON.stringify({ pid: '7', instanceId: of.instanceId })),
    write(folder, '8.json', 'null'),
  ];
  mkdirSync(join(folder, '9.json'));
  removeStaleRegistrations(folder);
  expect(filesIn(folder).toSorted()).toEqual([...files, '9.json'].toSorted());
});

test('a link is not followed, and a pipe not waited for', (context) => {
  context.skip(process.platform === 'win32', NOT_ON_WINDOWS);
  const folder = temporaryFolder();
  const elsewhere = temporaryFolder();
  const pid = deadPid();
  write(elsewhere, 'precious', registration(pid));
  symlinkSync(join(elsewhere, 'precious'), join(folder, `${pid}.json`));
  expect(spawnSync('mkfifo', [join(folder, '7.json')]).status).toBe(0);
  removeStaleRegistrations(folder);
  expect(filesIn(folder).toSorted()).toEqual(['7.json', `${pid}.json`].toSorted());
  expect(existsSync(join(elsewhere, 'precious'))).toBe(true);
});

test('a folder that cannot be read, or written, throws nothing', () => {
  const missing = join(temporaryFolder(), 'none');
  expect(() => removeStaleRegistrations(missing)).not.toThrow();
  const folder = temporaryFolder();
  const pid = deadPid();
  const name = write(folder, `${pid}.json`, registration(pid));
  chmodSync(folder, 0o500);
  onTestFinished(() => chmodSync(folder, 0o700));
  removeStaleRegistrations(folder);
  // A privileged user may write all the same.
  const isPrivileged = process.getuid === undefined || process.getuid() === 0;
  expect(filesIn(folder)).toEqual(isPrivileged ? [] : [name]);
});

test('what an interrupted removal has left is removed', () => {
  const folder = temporaryFolder();
  const pid = deadPid();
  const stale = registration(pid);
  write(folder, `.${pid}-${stale.instanceId}.tmp`, stale);
  write(folder, `${pid}.json`, stale);
  removeStaleRegistrations(folder);
  expect(filesIn(folder)).toEqual([]);
});

test.each([
  ['a registration', JSON.stringify(registration(4711))],
  ['anything else', 'half of'],
])('%s that has replaced a stale one since it was looked at is kept', (_what, text) => {
  const folder = temporaryFolder();
  const stale = registration(4711);
  write(folder, '4711.json', text);
  removeInstance(folder, '4711.json', stale);
  expect(filesIn(folder)).toEqual(['4711.json']);
  expect(readFileSync(join(folder, '4711.json'), 'utf8')).toBe(text);
});

test('several processes remove files at once', async () => {
  const folder = temporaryFolder();
  const pid = deadPid();
  for (let count = 0; count < 300; count++) {
    const one = registration(pid);
    write(folder, `${pid}-${one.instanceId}.json`, one);
  }
  const living = write(folder, `${process.pid}.json`, registration(process.pid));
  const source = new URL('../../kit/stale-registrations.ts', import.meta.url);
  const program = `import { removeStaleRegistrations } from ${JSON.stringify(source.href)};
removeStaleRegistrations(${JSON.stringify(folder)});`;
  const codes = Array.from({ length: 4 }, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = (await once(child, 'exit')) as [number];
    return code;
  });
  expect(await Promise.all(codes)).toEqual([0, 0, 0, 0]);
  expect(filesIn(folder)).toEqual([living]);
});
