// svc upgrade-check --rolling: a new module beside the one that nodes of a database run.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { admitModule } from '../../host/hosting/wasm/admission/admission.ts';
import { runCommand } from '../support/command-line.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { urlFile } from '../support/postgres/fresh-database.ts';
import { JournalNodes } from '../support/postgres/journal-nodes.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const [running, next] = [join(folder, 'objects.wasm'), join(folder, 'counter.wasm')];
let nodes: JournalNodes;
let database: string;

const check = (...args: readonly string[]) => runCommand(['upgrade-check', ...args]);

beforeAll(async () => {
  const component = await compileFixture('concurrent-objects');
  writeFileSync(running, component);
  writeFileSync(next, await compileFixture('counter'));
  nodes = await JournalNodes.make(await PostgresServer.shared('18'));
  const { fingerprint, descriptor } = admitModule(component);
  const { opened } = await nodes.start({ fingerprint });
  opened.noteModule({ fingerprint, descriptor: JSON.stringify(descriptor), timeMs: 0 });
  while ((await nodes.database.sql('SELECT FROM svc.module')).length === 0);
  const source = urlFile(folder, 'objects', nodes.database.url);
  if (source.kind !== 'file') throw new Error('the URL is in a file');
  database = `url-file:${source.path}`;
});
afterAll(() => nodes.close());

describe('svc upgrade-check --rolling', () => {
  test('lists what the versions do not understand of each other, and fails', async () => {
    const { code, stdout, stderr } = await check(next, '--rolling', database);
    expect(code).toBe(1);
    expect(stdout).toContain(
      "rolling-component-missing  register\n  the new version has no component 'register': its nodes fail calls of it",
    );
    expect(stdout).toMatch(/\n\nunsafe: beside the version that runs\n$/);
    expect(stderr).toMatch(
      /^svc: .*counter\.wasm cannot run beside what uses url-file:.*: rolling-component-missing, .* \[SVC_UPGRADE_UNSAFE\]\n$/,
    );
  });

  test('is content with what is allowed', async () => {
    const names = [
      'component-missing',
      'event-unread',
      'call-refused',
      'reply-unread',
      'key-refused',
    ];
    const allowed = names.flatMap((name) => ['--allow', `rolling-${name}`]);
    const { code, stdout } = await check(next, '--rolling', database, '-o', 'json', ...allowed);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      dir: database,
      module: next,
      from: null,
      compared: 'descriptor',
      safe: true,
      running: [admitModule(await compileFixture('concurrent-objects')).fingerprint],
      findings: expect.arrayContaining([expect.objectContaining({ allowed: true })]),
    });
  });

  test('says that no other version runs', async () => {
    expect(await check(running, '--rolling', database)).toMatchObject({
      code: 0,
      stdout: 'safe: no other version runs\n',
    });
  });

  test.each([
    [['--rolling', folder], 'takes a database as --rolling, url-file:FILE or url-variable:NAME'],
    [['--rolling', 'url-file:a', '--data', 'data'], 'takes no --data beside --rolling'],
    [['--rolling', 'url-file:a', '--from', 'a.wasm'], 'takes no --from beside --rolling'],
    [['--rolling', 'url-file:a', '--threads', '1'], 'takes no --threads beside --rolling'],
    [['--rolling', 'postgres://a@b/c'], 'does not stand on the command line'],
  ])('is refused with %j', async (args, message) => {
    const { code, stderr } = await check(next, ...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  test('takes no program, which never shares its database', async () => {
    const { code, stderr } = await check('--program', 'a.ts', '--rolling', database);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('a program uses its database alone'),
    });
  });
});
