// RegistrationFile: it is written atomically, never replaces the file of another process for long, and is removed
// with the process.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RegistrationFile } from '../../kit/registration-file.ts';
import { filesIn } from '../support/observed-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const NOT_ON_WINDOWS = 'Windows has no links of this kind';

const registration = (instanceId = 'a1') => ({
  name: 'cart',
  instanceId,
  pid: 4711,
  observabilityAddress: 'http://127.0.0.1:1234',
  startedAt: '2030-01-02T03:04:05.678Z',
});
const read = (folder: string) =>
  JSON.parse(readFileSync(join(folder, '4711.json'), 'utf8')) as unknown;

test('a folder that is not there is made, with all above it', () => {
  const folder = join(temporaryFolder(), 'home', '.svc', 'running');
  const file = new RegistrationFile(folder, registration());
  expect(read(folder)).toEqual(registration());
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  file.remove();
  file.remove();
  expect(filesIn(folder)).toEqual([]);
});

test('a stale file of a process that had the number before is overwritten', () => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, '4711.json'),
    '{"name":"of somebody else, and longer than the new one',
  );
  const file = new RegistrationFile(folder, registration());
  expect(read(folder)).toEqual(registration());
  expect(statSync(join(folder, '4711.json')).mode & 0o777).toBe(0o600);
  expect(filesIn(folder)).toEqual(['4711.json']);
  file.remove();
});

test('a file that another has written in its place is not removed', () => {
  const folder = temporaryFolder();
  const file = new RegistrationFile(folder, registration('a1'));
  // A process in another container may have the same process id.
  writeFileSync(join(folder, '4711.json'), JSON.stringify(registration('b2')));
  file.remove();
  expect(read(folder)).toEqual(registration('b2'));
});

test('the second service of a process has a file of its own', () => {
  const folder = temporaryFolder();
  const first = new RegistrationFile(folder, registration('a1'));
  const second = new RegistrationFile(folder, registration('b2'));
  expect(filesIn(folder).toSorted()).toEqual(['4711-b2.json', '4711.json']);
  first.remove();
  expect(filesIn(folder)).toEqual(['4711-b2.json']);
  second.remove();
  expect(filesIn(folder)).toEqual([]);
});

test('what another has put in its place is not read unless it is a file', (context) => {
  context.skip(process.platform === 'win32', NOT_ON_WINDOWS);
  const folder = temporaryFolder();
  const path = join(folder, '4711.json');
  const file = new RegistrationFile(folder, registration());
  // The link may as well lead to a file that never ends.
  renameSync(path, join(folder, 'moved'));
  symlinkSync('moved', path);
  file.remove();
  expect(read(folder)).toEqual(registration());
});

test('a link in its place, or in that of what is written first, leads nothing astray', (context) => {
  context.skip(process.platform === 'win32', NOT_ON_WINDOWS);
  const folder = temporaryFolder();
  const elsewhere = join(temporaryFolder(), 'precious');
  writeFileSync(elsewhere, 'precious');
  symlinkSync(elsewhere, join(folder, '4711.json'));
  const file = new RegistrationFile(folder, registration());
  expect(read(folder)).toEqual(registration());
  file.remove();
  symlinkSync(elsewhere, join(folder, '.4711-a1.tmp'));
  expect(() => new RegistrationFile(folder, registration())).toThrow(/EEXIST/);
  expect(readFileSync(elsewhere, 'utf8')).toBe('precious');
});

test('what cannot be written throws, and leaves nothing', () => {
  const folder = temporaryFolder();
  // A file cannot replace a folder.
  mkdirSync(join(folder, '4711.json', 'in it'), { recursive: true });
  expect(() => new RegistrationFile(folder, registration())).toThrow(
    /EISDIR|ENOTEMPTY|EEXIST|EPERM/,
  );
  expect(filesIn(folder)).toEqual(['4711.json']);
});

test.each([
  ['ends itself', 'process.exit(3);'],
  ['fails at what nobody expected', "setImmediate(() => { throw new Error('oh no'); });"],
])('it is gone when the process %s', (_how, end) => {
  const folder = temporaryFolder();
  const source = new URL('../../kit/registration-file.ts', import.meta.url);
  const program = join(folder, 'program.ts');
  writeFileSync(
    program,
    `import { existsSync } from 'node:fs';
import { RegistrationFile } from ${JSON.stringify(source.href)};
new RegistrationFile('running', ${JSON.stringify(registration())});
console.log(existsSync('running/4711.json'));
${end}
`,
  );
  const { stdout, status } = spawnSync(process.execPath, [program], { cwd: folder });
  expect([String(stdout), status]).not.toEqual(['true\n', 0]);
  expect(String(stdout)).toBe('true\n');
  expect(filesIn(join(folder, 'running'))).toEqual([]);
});
