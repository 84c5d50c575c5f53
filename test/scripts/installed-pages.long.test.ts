// Follows docs/how-to/installing.md, first-component.md and embedding.md step by step with the packed packages, in
// folders outside of the checkout and with an empty home. The commands and snippets come from the pages.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Curl, curlsOf, snippetsOf } from '../support/doc-snippets.ts';
import { stopForGood } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { npmEnvironment, userEnvironment, whyNoRegistry } from './support/npm.ts';

const repository = join(import.meta.dirname, '..', '..');
const FIRST_COMPONENT = 'docs/how-to/first-component.md';
const folder = temporaryFolderOfFile();
const tools = join(folder, 'tools');
const library = join(tools, 'library');
const flags = join(folder, 'flags');
const env = {
  ...userEnvironment(),
  ...npmEnvironment(),
  HOME: join(folder, 'home'),
  SVC_HTTP_PORT: '0',
};
const [PACK, MAKE, TRY, EMBED] = snippetsOf('docs/how-to/installing.md', 'sh').map(({ code }) =>
  code.trim().split('\n'),
) as [string[], string[], string[], string[]];
const read = (path: string) => readFileSync(join(repository, path), 'utf8');

const COMMAND_TIMEOUT_MS = 240_000;
// Each folder is installed from scratch, and the module is compiled several times.
vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

/** Runs a command line of a page; throws if the command fails or takes too long. */
function run(line: string, cwd: string): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
    cwd,
    env,
    encoding: 'utf8',
    timeout: COMMAND_TIMEOUT_MS,
  });
  if (status !== 0) throw new Error(`${line}\n${stdout}${stderr}`);
  return stdout + stderr;
}

/**
 * Runs a command that starts a service, and returns the service's address; the service is stopped at the end of the
 * test.
 */
async function start(line: string, cwd: string, dataFolder: string): Promise<string> {
  const service = spawn('sh', ['-c', line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  service.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
  const ended = once(service, 'exit');
  for await (const output of createInterface(service.stdout)) {
    if (!output.startsWith('http://')) continue;
    const owner = readFileSync(join(cwd, dataFolder, 'owner.json'), 'utf8');
    const { pid } = JSON.parse(owner) as { pid: number };
    onTestFinished(async () => {
      stopForGood(pid);
      await ended;
    });
    return output.trim();
  }
  throw new Error(`${line}\n${said}`);
}

async function expectAnswers(url: string, curls: readonly Curl[]): Promise<void> {
  for (const { command, method, path, headers, body, answer } of curls) {
    const response = await fetch(url + path, { method, headers, body: body ?? null });
    expect({ command, answer: await response.text() }).toEqual({ command, answer });
  }
}

/** Inserts code of the page before a line of the file, which must exist. */
function insert(file: string, line: string, code: string): void {
  const path = join(library, file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(line)) throw new Error(`${file} has no ${line}`);
  writeFileSync(
    path,
    text.replace(line, () => `${code}\n${line}`),
  );
}

describe.skipIf(whyNoRegistry() !== undefined)('with the packed packages', () => {
  beforeAll(() => {
    for (const made of [env.HOME, tools, flags]) mkdirSync(made);
    const packages = join(folder, 'svc-packages');
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(repository, 'scripts', 'pack.ts'), '--out', packages],
      { encoding: 'utf8', timeout: COMMAND_TIMEOUT_MS },
    );
    if (status !== 0) throw new Error(stderr);
  });

  test('the page makes the packages with the script that this test calls', () => {
    expect(PACK).toEqual(['npm ci', 'npm run pack -- --out ../svc-packages']);
    expect(read('package.json')).toContain('"pack": "node scripts/with-node.mjs scripts/pack.ts"');
  });

  describe('a component', () => {
    const [before, after] = read(FIRST_COMPONENT).split('\n## Change it\n') as [string, string];

    test('is made, installed, tested, built and served as the page says', async () => {
      for (const line of MAKE) run(line, tools);
      const [enter, ...steps] = TRY;
      expect([enter, steps.at(-1)]).toEqual(['cd library', 'npm start']);
      for (const line of steps.slice(0, -1)) run(line, library);
      const url = await start('npm start', library, '.svc/library');
      await expectAnswers(url, curlsOf(before));
      const journal = snippetsOf(FIRST_COMPONENT, 'sh')
        .flatMap(({ code }) => code.split('\n'))
        .find((line) => line.startsWith('npx svc journal'));
      expect(run(journal!, library)).toContain('{"type":"lent","reader":"ada"}');
    });

    test('is changed as the page says, and goes on with its journal', async () => {
      const shown = snippetsOf(FIRST_COMPONENT, 'ts').map(({ code }) => code);
      const changes = shown.slice(shown.findIndex((code) => after.includes(code)));
      const [event, branch, command, route, tests] = changes as [string, ...string[]];
      insert('assembly/book.ts', '@entity("book")', event);
      expect(() => run('npm run build', library)).toThrow("does not handle 'HandedOn'");
      const [kept, added] = branch!.split(/^(?= *\} else if \(event instanceof HandedOn\))/m);
      const book = join(library, 'assembly/book.ts');
      const old = readFileSync(book, 'utf8');
      expect(old).toContain(kept);
      writeFileSync(
        book,
        old.replace(`${kept}    }\n`, () => kept! + added!),
      );
      insert('assembly/book.ts', '  @query("get")', command!);
      insert('assembly/index.ts', '  @post("/{isbn}/loan")', route!);
      const testFile = join(library, 'test/library.test.ts');
      writeFileSync(testFile, `${readFileSync(testFile, 'utf8')}\n${tests}`);
      expect(run('npm test', library)).toMatch(/Tests .*6 passed/);
      const url = await start('npm start', library, '.svc/library');
      await expectAnswers(url, curlsOf(after));
    });
  });

  test('a program embeds the runtime as the page says', async () => {
    for (const line of EMBED) run(line, flags);
    // The snippets of the page are parts of these files, which the tests of the page check.
    for (const part of ['src', 'test'])
      cpSync(join(repository, 'examples/06-embedded', part), join(flags, part), {
        recursive: true,
      });
    expect(run('npx vitest run', flags)).toMatch(/Tests .*passed/);
    const url = await start('npx node src/main.ts --port 0', flags, '.svc/flags');
    await expectAnswers(url, curlsOf(read('examples/06-embedded/README.md')));
    const inJournal = snippetsOf('examples/06-embedded/README.md', 'sh').flatMap(({ code }) =>
      code.split('\n').filter((line) => line.startsWith('npx svc ')),
    );
    expect(inJournal).toHaveLength(2);
    const [history, verified] = inJournal.map((line) => run(line, flags));
    expect(history).toContain('flag new-search after record 1');
    expect(verified).toContain('every fold depends on the events alone');
  });
});
