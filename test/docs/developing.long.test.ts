// docs/how-to/developing.md: one session of `svc dev` in a project as `svc new` makes it, in which each terminal block of
// the page is printed as the page shows it, except for the parked event, which test/cli/dev-terminal.test.ts prints. Times, the port and the error id differ each time.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { snippetsOf } from '../support/doc-snippets.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const PAGE = 'docs/how-to/developing.md';
const [started, compileError, trap, upgrade, parked, ...others] = snippetsOf(PAGE, 'text').map(
  ({ code }) => code,
);

const folder = temporaryFolderOfFile();
const project = join(folder, 'my-service');
const book = join(project, 'assembly', 'book.ts');
const original = readFileSync(join(root, 'cli/template/module/assembly/book.ts'), 'utf8');
let dev: SvcProcess;
let url: string;

const withoutWhatDiffers = (text: string) =>
  text
    .replaceAll(/\d\d:\d\d:\d\d/g, 'TIME')
    .replaceAll(/\d+(?:\.\d+)? m?s\b/g, 'DURATION')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(/error id \w{16}/g, 'error id ID');

/** The terminal, from a character on. */
const terminal = (since = 0) => withoutWhatDiffers(dev.stderr.slice(since));

/** The template's book with the line that a block shows, where the block says that it is. */
function withLineOf(block: string): string {
  const [, number, line] = /^ *(\d+) \| *(.*)$/m.exec(block)!;
  const lines = original.split('\n');
  return lines.toSpliced(Number(number) - 1, 0, `    ${line}`).join('\n');
}

async function lend(isbn: string): Promise<Response> {
  return fetch(`${url}/books/${isbn}/loan`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: '{"reader":"ada"}',
  });
}

beforeAll(async () => {
  cpSync(join(root, 'cli', 'template', 'module'), project, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{"name":"my-service"}');
  const env = { SVC_RUNNING_DIR: join(folder, 'running') };
  dev = new SvcProcess(['dev', '--port', '0'], { cwd: project, env });
  url = await dev.listening();
});

afterAll(async () => {
  dev.child.kill('SIGKILL');
  await dev.ended;
});

test('the page has a block for each of these', () => {
  expect(parked).toContain('is parked');
  expect(others).toEqual([]);
});

test('it starts as the page shows', async () => {
  await expect.poll(() => terminal()).toContain(withoutWhatDiffers(started!));
});

test('a compile error is shown as on the page', async () => {
  for (const isbn of ['dune', 'emma', 'ulysses']) expect((await lend(isbn)).status).toBe(200);
  writeFileSync(book, withLineOf(compileError!));
  await expect.poll(() => terminal()).toContain(withoutWhatDiffers(compileError!));
});

test('a trap is shown as on the page', async () => {
  const since = dev.stderr.length;
  writeFileSync(book, withLineOf(trap!));
  await expect.poll(() => dev.stderr.slice(since)).toContain('● serving');
  expect((await lend('hamlet')).status).toBe(500);
  await expect.poll(() => terminal(since)).toContain(withoutWhatDiffers(trap!));
});

test('stored events that do not fold are shown as on the page', async () => {
  const changed = original
    .replace('Lent extends BookEvent { reader: string = "";', '$& until: string = "";')
    .replace('{ reader: input.reader }', '{ reader: input.reader, until: "" }');
  writeFileSync(book, changed);
  await expect.poll(() => terminal()).toContain(withoutWhatDiffers(upgrade!));
});
