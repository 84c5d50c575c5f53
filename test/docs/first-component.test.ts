// docs/how-to/first-component.md: whoever follows it has fixtures/first-component, which does what the page says.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildError, buildComponent } from '@svc/guest-sdk/compiler';
import { testEndpoints, testEntity, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { curlsOf, snippetsOf } from '../support/doc-snippets.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const PAGE = 'docs/how-to/first-component.md';
const page = readFileSync(join(root, PAGE), 'utf8');
const [before, after] = page.split('## Change it\n') as [string, string];
const linesOf = (path: string) => readFileSync(join(root, path), 'utf8').split('\n');

const module = await testModule(await compileFixture('first-component'));

test('a reader hands the book on', () => {
  testEntity(module, 'book', 'dune')
    .given([{ type: 'lent', reader: 'ada' }])
    .when('hand-on', { reader: 'bob' })
    .thenEvents([{ type: 'handed-on', reader: 'bob' }])
    .thenReply({ reader: 'bob', count: 2 });
});

test('a book that nobody has is not handed on', () => {
  testEntity(module, 'book', 'dune')
    .when('hand-on', { reader: 'bob' })
    .thenRefused({ code: 'CONFLICT', message: 'nobody has it' });
});

test('the requests of the page are answered as it says', async () => {
  const api = testEndpoints(module);
  const curls = curlsOf(page);
  expect(curls).toHaveLength(4);
  for (const { command, method, path, headers, body, answer } of curls) {
    const { text } = await api.request(method, path, { headers, body });
    expect({ command, answer: text }).toEqual({ command, answer });
  }
});

describe.each(['assembly/book.ts', 'assembly/index.ts'])('%s', (file) => {
  const template = linesOf(`cli/template/module/${file}`);
  const changed = linesOf(`fixtures/first-component/${file}`);
  const added: string[] = [];
  let next = 0;
  for (const line of changed)
    if (line === template[next]) next++;
    else added.push(line);

  test('is the template with what the page adds', () => {
    expect(next).toBe(template.length);
    const told = new Set(snippetsOf(PAGE, 'ts').flatMap(({ code }) => code.split('\n')));
    expect(added.length).toBeGreaterThan(1);
    expect(added.filter((line) => !told.has(line))).toEqual([]);
  });
});

test('the half before the change shows the template as it is', () => {
  const template = ['book', 'index'].map((name) =>
    linesOf(`cli/template/module/assembly/${name}.ts`),
  );
  const shown = [...before.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
  expect(shown.length).toBeGreaterThan(5);
  const texts = template.map((lines) => lines.join('\n'));
  expect(shown.filter((code) => !texts.some((text) => text.includes(code)))).toEqual([]);
});

test('with the event alone the build says what the page shows', async () => {
  const folder = temporaryFolder();
  cpSync(join(root, 'cli/template/module/assembly'), folder, { recursive: true });
  const event = /^@variant\("handed-on"\).*\n/m.exec(after)![0];
  const book = readFileSync(join(folder, 'book.ts'), 'utf8');
  writeFileSync(
    join(folder, 'book.ts'),
    book.replace(/^@variant\("returned"\).*\n/m, `$&${event}`),
  );
  const failure = await buildComponent({ entryFile: join(folder, 'index.ts') }).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(BuildError);
  const [message] = (failure as BuildError).problems.map((problem) => problem.message);
  const place = /^assembly\/book\.ts:(\d+):(\d+): error: (.*)$/m.exec(after)!;
  const [problem] = (failure as BuildError).problems;
  expect(message).toBe(place[3]);
  expect([problem!.line, problem!.column]).toEqual([Number(place[1]), Number(place[2])]);
  for (const line of problem!.help!.split('\n')) expect(after).toContain(line);
});
