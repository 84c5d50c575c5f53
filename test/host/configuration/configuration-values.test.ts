// The values that an operator gives: from a file, a folder and the command line.
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { ModuleDescriptor } from '../../../contract/index.ts';
import { isOpenToOthers } from '../../../host/configuration/bounded-file.ts';
import { gatherConfiguration } from '../../../host/configuration/configuration-values.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const described = {
  types: {
    Settings: {
      type: 'object',
      properties: {
        currency: { type: 'string' },
        days: { type: 'integer', minimum: 0, maximum: 365 },
        key: { type: 'string' },
      },
      required: ['days', 'key'],
    },
  },
  configuration: { schema: { $ref: '#/types/Settings' }, secrets: ['key'] },
} as unknown as ModuleDescriptor;

let folder: string;
let file: string;
beforeEach(() => {
  const dir = temporaryFolder();
  folder = join(dir, 'values');
  file = join(dir, 'values.yaml');
  mkdirSync(folder);
});

const write = (path: string, content: string | Buffer, mode = 0o600): void => {
  writeFileSync(path, content);
  chmodSync(path, mode);
};
const NOWHERE = { file: undefined, folder: undefined, assignments: [] };
const gather = (
  sources: Partial<Parameters<typeof gatherConfiguration>[0]> = { file, folder },
): ReturnType<typeof gatherConfiguration> =>
  gatherConfiguration({ ...NOWHERE, ...sources }, described);

test('a folder overrides a file, and the command line overrides both', async () => {
  write(file, 'currency: EUR\ndays: 1\nkey: key-of-the-file\n');
  write(join(folder, 'days'), '2\n');
  write(join(folder, 'key'), 'key-of-the-folder\r\n');
  const { texts, problems } = await gather({ file, folder, assignments: ['days=3'] });
  expect(problems).toEqual([]);
  expect(JSON.parse(texts!.json)).toEqual({ currency: 'EUR', days: 3, key: 'key-of-the-folder' });
  expect(texts!.secrets).toEqual(['key-of-the-folder']);
});

test('a mounted folder is read through its links, without its hidden folders', async () => {
  const version = join(folder, '..2026_01');
  mkdirSync(version);
  write(join(version, 'days'), '7');
  write(join(version, 'key'), 'the-mounted-key');
  symlinkSync('..2026_01', join(folder, '..data'));
  for (const name of ['days', 'key']) symlinkSync(join('..data', name), join(folder, name));
  const { texts } = await gather({ folder });
  expect(JSON.parse(texts!.json)).toEqual({ days: 7, key: 'the-mounted-key' });
});

test('a file with a secret that others may read is used, with a warning', async () => {
  write(join(folder, 'days'), '7', 0o644);
  write(join(folder, 'key'), 'the-open-key', 0o644);
  const { texts, warnings } = await gather({ folder });
  expect(texts).toBeDefined();
  expect(warnings).toEqual([
    `${join(folder, 'key')} has a secret, and other users may read it: give the file the rights 0600, or 0400`,
  ]);
  write(file, 'days: 7\nkey: the-open-key\n', 0o640);
  expect((await gather({ file })).warnings).toHaveLength(1);
  write(file, 'days: 7\n', 0o644);
  expect((await gather({ file, folder })).warnings).toHaveLength(1);
});

test('secrets come longest first, with the form that they have in JSON', async () => {
  write(file, JSON.stringify({ days: 1, key: 'line one\nline "two"' }));
  expect((await gather({ file })).texts!.secrets).toEqual([
    String.raw`line one\nline \"two\"`,
    'line one\nline "two"',
  ]);
});

test('a secret on the command line is refused, and not reported as missing too', async () => {
  write(file, 'days: 1\n');
  const { problems } = await gather({ file, assignments: ['key=seen-by-everyone', 'x', '=y'] });
  expect(problems).toEqual([
    "--configure cannot give the secret 'key', because other users see it in the list of processes: put it into a file",
    '--configure takes NAME=VALUE',
    '--configure takes NAME=VALUE',
  ]);
});

test.each<[string, () => void, string]>([
  ['that is not there', () => {}, 'cannot be read (ENOENT)'],
  ['that is a folder', () => mkdirSync(file), 'is no file'],
  ['of 10 MiB', () => write(file, 'x'.repeat(10 * 1024 * 1024)), 'has more than 262144 bytes'],
  ['with a NUL', () => write(file, 'days: "1\0"'), 'contains a NUL'],
  ['in UTF-16', () => write(file, Buffer.from('\ufeffdays: 1', 'utf16le')), 'is not UTF-8'],
  ['in Latin-1', () => write(file, Buffer.from('currency: é', 'latin1')), 'is not UTF-8'],
])('a file %s is a problem', async (_what, make, problem) => {
  make();
  const { texts, problems, isUnreadable } = await gather({ file, assignments: ['days=1'] });
  expect(texts).toBeUndefined();
  expect(problems).toEqual([`${file} ${problem}`]);
  expect(isUnreadable).toBe(problem.startsWith('cannot be read'));
});

test('a file that is no document makes nothing missing, and one that cannot be read hides no wrong value', async () => {
  write(file, 'days: [\n');
  const broken = await gather({ file });
  expect(broken.problems).toEqual([expect.stringMatching(/^.*values\.yaml: line /)]);
  expect(broken.isUnreadable).toBe(false);
  rmSync(file);
  const { problems, isUnreadable } = await gather({ file, assignments: ['days=many'] });
  expect(problems).toEqual([
    `${file} cannot be read (ENOENT)`,
    expect.stringMatching(/^'days' is not an integer/),
  ]);
  expect(isUnreadable).toBe(false);
});

test('an empty secret, and a folder with too many files, make nothing missing besides', async () => {
  write(file, 'days: 1\n');
  write(join(folder, 'key'), '\n');
  const empty = await gather({ file, folder });
  expect(empty.problems).toEqual([`${join(folder, 'key')} is empty`]);
  expect(empty.isUnreadable).toBe(true);
  for (let index = 0; index <= 1_000; index++) write(join(folder, `f${index}`), '');
  const { problems, isUnreadable } = await gather({ folder });
  expect(problems).toEqual([`${folder} has more than 1000 files`]);
  expect(isUnreadable).toBe(false);
});

test.each([
  ['of the reader', 0o600, 1000, 1000, false],
  ['of the reader, for its group', 0o640, 1000, 1000, true],
  ['of root, for a group of the reader', 0o440, 0, 3000, false],
  ['of root, which a group of the reader may change', 0o460, 0, 3000, true],
  ['of root, for everybody', 0o444, 0, 3000, true],
  ['of root, for another group', 0o440, 0, 4000, true],
  ['of another user, for a group of the reader', 0o640, 1001, 3000, true],
  ['of another user, for nobody else', 0o600, 1001, 4000, false],
])('a file %s (%i)', (_whose, mode, uid, gid, isOpen) => {
  const reader = { id: 1000, groups: [1000, 3000] };
  expect(isOpenToOthers({ mode, uid, gid }, reader)).toBe(isOpen);
});

test('root reads every file, so one of root for a group is open to it', () => {
  const root = { id: 0, groups: [0] };
  expect(isOpenToOthers({ mode: 0o440, uid: 0, gid: 0 }, root)).toBe(true);
  expect(isOpenToOthers({ mode: 0o400, uid: 0, gid: 0 }, root)).toBe(false);
});

test('a device that never ends and a pipe that nobody writes are no files', async () => {
  expect((await gather({ file: '/dev/zero' })).problems[0]).toBe('/dev/zero is no file');
  expect((await gather({ folder: '/dev/null' })).problems[0]).toBe(
    '/dev/null cannot be read (ENOTDIR)',
  );
});

test('a file of the folder that vanishes is one problem', async () => {
  write(file, 'days: 1\n');
  symlinkSync('gone', join(folder, 'key'));
  const { problems } = await gather({ file, folder });
  expect(problems).toEqual([`${join(folder, 'key')} cannot be read (ENOENT)`]);
  rmSync(folder, { recursive: true });
  expect((await gather({ file, folder })).problems).toEqual([`${folder} cannot be read (ENOENT)`]);
});

test('all problems of all sources are reported together', async () => {
  write(file, 'days: 999\ncurency: EUR\n');
  write(join(folder, 'other'), 'x');
  const { problems } = await gather({ file, folder, assignments: ['key=abc'] });
  expect(problems).toHaveLength(4);
});

test('a module without a configuration takes no values', async () => {
  const sources = { file: undefined, folder: undefined, assignments: ['days=1'] };
  const { texts, problems } = await gatherConfiguration(sources, { types: {} });
  expect(texts).toBeUndefined();
  expect(problems).toEqual(['"days" is not declared (--configure)']);
});

test('variables of a descriptor are texts, which are read as those of the command line', async () => {
  write(join(folder, 'key'), 'the-key-of-shop');
  write(file, '{"days": "7", "currency": "5"}');
  const { texts } = await gather({ variables: file, secrets: folder });
  expect(JSON.parse(texts!.json)).toEqual({ days: 7, currency: '5', key: 'the-key-of-shop' });
});

test.each([
  ['{"days": "many"}', "'days' is not an integer from 0 to 365 (env of the descriptor)"],
  ['{"days": "7", "NODE_OPTIONS": "x"}', '"NODE_OPTIONS" is not declared (env of the descriptor)'],
  ['{"days": "7", "__proto__": "x"}', '"__proto__" is not declared (env of the descriptor)'],
  [
    '{"days": "7", "key": "a-literal-secret"}',
    "'key' is a secret, and may not be declared in env of the descriptor, which the platform stores",
  ],
  ['{"days": 7}', 'the file with the variables is not an object of texts'],
  ['["days"]', 'the file with the variables is not an object of texts'],
  ['{"days"', 'the file with the variables is not an object of texts'],
])('variables %s are refused, and no problem quotes a value or a path', async (json, problem) => {
  write(join(folder, 'key'), 'the-key-of-shop');
  write(file, json);
  const { texts, problems } = await gather({ variables: file, secrets: folder });
  expect(texts).toBeUndefined();
  expect(problems).toContain(problem);
  expect(problems.join()).not.toMatch(/literal|the-key|\//);
});

test('variables of a process need be no values, and none of them may be a secret', async () => {
  write(join(folder, 'key'), 'the-key-of-shop');
  write(file, '{"days": "7", "LD_LIBRARY_PATH": "/lib", "__proto__": "x"}');
  const sources = { variables: file, secrets: folder, ignoresOtherVariables: true };
  const { texts, problems } = await gather(sources);
  expect(problems).toEqual([]);
  expect(JSON.parse(texts!.json)).toEqual({ days: 7, key: 'the-key-of-shop' });
  expect(await gatherConfiguration({ ...NOWHERE, ...sources }, { types: {} })).toMatchObject({
    texts: undefined,
    problems: [],
  });
  write(file, '{"days": "many", "key": "a-literal-secret"}');
  expect((await gather(sources)).problems).toHaveLength(2);
});

test('of a folder of secrets the declared secrets are read, and nothing else', async () => {
  write(file, '{"days": "7"}');
  write(join(folder, 'key'), 'the-key-of-shop\n');
  for (const name of ['days', 'currency', 'other', '.hidden']) write(join(folder, name), 'x');
  mkdirSync(join(folder, 'a-folder'));
  const { texts, problems } = await gather({ variables: file, secrets: folder });
  expect(problems).toEqual([]);
  expect(JSON.parse(texts!.json)).toEqual({ days: 7, key: 'the-key-of-shop' });
  expect(texts!.secrets).toEqual(['the-key-of-shop']);
});

test.each(['../bank/key', 'sub/../../bank/key', '..', '/etc/hostname'])(
  'a module that declares the secret %s reads no file outside of its folder',
  async (name) => {
    const bank = join(folder, '../bank');
    mkdirSync(bank);
    mkdirSync(join(folder, 'sub'));
    write(join(bank, 'key'), 'the-key-of-the-bank');
    const { texts, problems } = await gatherConfiguration(
      { file: undefined, folder: undefined, assignments: [], secrets: folder },
      {
        types: {},
        configuration: {
          schema: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] },
          secrets: [name],
        },
      } as unknown as ModuleDescriptor,
    );
    expect(texts).toBeUndefined();
    expect(problems).toEqual([`'${name}' is missing: a text`]);
  },
);

test('a secret that is missing or cannot be read is a problem without a path', async () => {
  write(file, '{"days": "7"}');
  const problemsOf = async (secrets: string) =>
    (await gather({ variables: file, secrets })).problems;
  expect(await problemsOf(folder)).toEqual(["'key' is missing: a text"]);
  expect(await problemsOf(join(folder, 'not-there'))).toEqual(["'key' is missing: a text"]);
  write(join(folder, 'key'), '\n');
  expect(await problemsOf(folder)).toEqual(["the file of the secret 'key' is empty"]);
  rmSync(join(folder, 'key'));
  mkdirSync(join(folder, 'key'));
  expect(await problemsOf(folder)).toEqual(["the file of the secret 'key' is no file"]);
  expect(await problemsOf(file)).toEqual([
    "the folder of the project's secrets cannot be read (ENOTDIR)",
  ]);
});

test('a folder of secrets and a secret that others may use lead to warnings without a path', async () => {
  write(file, '{"days": "7"}');
  write(join(folder, 'key'), 'the-key-of-shop', 0o640);
  chmodSync(folder, 0o750);
  const { texts, warnings } = await gather({ variables: file, secrets: folder });
  expect(texts).toBeDefined();
  expect(warnings).toEqual([
    "the folder of the project's secrets can be used by other users of the machine: give it the rights 0700",
    "the file of the secret 'key' has a secret, and other users may read it: give the file the rights 0600, or 0400",
  ]);
  chmodSync(folder, 0o700);
  chmodSync(join(folder, 'key'), 0o600);
  expect((await gather({ variables: file, secrets: folder })).warnings).toEqual([]);
});
