// The way of a new author, with the commands that the README and the project's own papers name: from
// `svc new` to a service that survives kill -9, and on to a change, with its mistake on the way.
import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { npmEnvironment, userEnvironment, whyNoRegistry } from '../scripts/support/npm.ts';
import { stopForGood } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const repository = join(import.meta.dirname, '..', '..');
const folder = temporaryFolderOfFile();
const project = join(folder, 'library');
const home = join(folder, 'home');
const env = { ...userEnvironment(), ...npmEnvironment(), HOME: home, SVC_HTTP_PORT: '0' };

/** What a command said, and its exit code. */
function run(command: string, args: readonly string[], cwd = project) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  return { status, stdout, stderr, said: stdout + stderr };
}

interface Service {
  readonly npm: ChildProcessByStdio<null, Readable, Readable>;
  readonly url: string;
  /** Of the host itself, not of npm. */
  readonly pid: number;
  /** All of its log. It ends when the last process that could write to it has ended. */
  readonly log: Promise<string>;
}

/** `npm start`, once it serves. */
async function start(): Promise<Service> {
  const npm = spawn('npm', ['start'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = text(npm.stderr);
  const url = Promise.withResolvers<string>();
  let said = '';
  npm.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
    const found = /^http:\/\/\S+$/m.exec(said)?.[0];
    if (found !== undefined) url.resolve(found);
  });
  void log.then((whole) => url.reject(new Error(whole)));
  const address = await url.promise;
  const owner = readFileSync(join(project, '.svc', 'library', 'owner.json'), 'utf8');
  const { pid } = JSON.parse(owner) as { pid: number };
  onTestFinished(() => stopForGood(pid));
  return { npm, url: address, pid, log };
}

async function post(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Throws when the text to replace is not there. */
function edit(file: string, changes: readonly (readonly [before: string, after: string])[]): void {
  const path = join(project, file);
  let source = readFileSync(path, 'utf8');
  for (const [before, after] of changes) {
    if (!source.includes(before)) throw new Error(`${file} has no ${before}`);
    source = source.replace(before, after);
  }
  writeFileSync(path, source);
}

const noRegistry = whyNoRegistry();
// It installs, and compiles five times; the limits are for a machine that is busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

// Each step stands on the one before.
describe.skipIf(noRegistry !== undefined)('a new author', () => {
  beforeAll(() => mkdirSync(home));

  test('makes a project outside of the checkout, installs it, and its tests pass', () => {
    const svc = join(repository, 'node_modules', '.bin', 'svc');
    const made = run(svc, ['new', project], repository);
    expect(made.stderr).toContain('npm install');
    expect(run('npm', ['install'])).toMatchObject({ status: 0 });
    const tested = run('npm', ['test']);
    expect(tested.said).toMatch(/Tests .*4 passed/);
    expect(tested.status).toBe(0);
  });

  test('serves it, kills it, starts it again, and everything is there', async () => {
    const first = await start();
    const lent = await post(`${first.url}/books/dune/loan`, { reader: 'ada' });
    expect(await lent.json()).toEqual({ reader: 'ada', count: 1 });
    expect(await (await fetch(`${first.url}/books/dune`)).json()).toEqual({
      reader: 'ada',
      count: 1,
    });
    process.kill(first.pid, 'SIGKILL');
    await first.log;

    const second = await start();
    expect(await (await fetch(`${second.url}/books/dune`)).json()).toEqual({
      reader: 'ada',
      count: 1,
    });
    // While it runs.
    const journal = run('npx', ['svc', 'journal', '.svc/library', 'book', 'dune']);
    expect(journal.stdout).toMatch(/^ +1 .* BookEvent .*\{"type":"lent","reader":"ada"\}\n$/);

    const exited = once(second.npm, 'exit');
    second.npm.kill('SIGTERM');
    await exited;
    expect(await second.log).toContain('"stopped"');
    await expect(fetch(second.url)).rejects.toThrow('fetch failed');
    expect(existsSync(join(project, '.svc', 'library', 'owner.json'))).toBe(false);
  });

  test('adds an event and a command, and sees what is missing, by file and line', () => {
    edit('assembly/book.ts', [
      [
        '@entity("book")',
        `@data export class Renew { weeks: i32 = 0; }
@variant("renewed") export class Renewed extends BookEvent { weeks: i32 = 0; }

@entity("book")`,
      ],
      [
        '  @query("get")',
        `  @command("renew")
  renew(state: Loan, input: Renew): Effect<Loan> {
    if (state.reader == "") return this.refuse<Loan>("nobody has it", Code.CONFLICT);
    const renewed: Renewed = { weeks: input.weeks };
    return this.persist(renewed).thenReplyState();
  }

  @query("get")`,
      ],
    ]);
    edit('assembly/index.ts', [
      ['Lend, Loan }', 'Lend, Loan, Renew }'],
      [
        '  @del(',
        `  @post("/{isbn}/renewal")
  renew(isbn: string, input: Renew): Result<Loan> { return new BookClient(isbn).renew(input); }

  @del(`,
      ],
    ]);
    const refused = /book\.ts:(\d+):\d+: error: 'apply' of entity 'Book' does not handle 'Renewed'/;
    const started = run('npm', ['start']);
    expect(started.status).toBe(1);
    expect(started.stderr).toMatch(refused);
    const line = Number(refused.exec(started.stderr)![1]);
    const source = readFileSync(join(project, 'assembly/book.ts'), 'utf8').split('\n');
    expect(source[line - 1]).toMatch(/^ {2}apply\(/);
    const tested = run('npm', ['test']);
    expect(tested.status).toBe(1);
    expect(tested.said).toMatch(refused);
  });

  test('mends it, tests it, and serves it on the journal that is there', async () => {
    edit('assembly/book.ts', [
      [
        '    return state;\n',
        '    else if (event instanceof Renewed) state.count += 1;\n    return state;\n',
      ],
    ]);
    edit('test/library.test.ts', [
      [
        "test('the library lends",
        `test('a loan is renewed', () => {
  testEntity(module, 'book', 'dune')
    .given([{ type: 'lent', reader: 'ada' }])
    .when('renew', { weeks: 2 })
    .thenEvents([{ type: 'renewed', weeks: 2 }])
    .thenReply({ reader: 'ada', count: 2 });
});

test('the library lends`,
      ],
    ]);
    expect(run('npm', ['test']).said).toMatch(/Tests .*5 passed/);
    const service = await start();
    const renewed = await post(`${service.url}/books/dune/renewal`, { weeks: 2 });
    expect(await renewed.json()).toEqual({ reader: 'ada', count: 2 });
    service.npm.kill('SIGTERM');
    expect(await service.log).toContain('"stopped"');
    const journal = run('npx', ['svc', 'journal', '.svc/library', 'book', 'dune', '-o', 'json']);
    expect(JSON.parse(journal.stdout)).toMatchObject({
      records: [{ event: { type: 'lent' } }, { event: { type: 'renewed', weeks: 2 } }],
    });
  });
});
