// What the page on an entity's past shows is what svc entity prints.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { append } from '../suites/journal-suite.ts';
import { CART_TIME_MS, fillCart } from '../support/cart-journal.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { runSvc } from '../support/host-process.ts';
import { copyFlagsProgram, fillProgramFolder } from '../support/program-folder.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { withJournal } from '../support/with-journal.ts';

const PAGE = 'docs/how-to/looking-into-the-past.md';
const folder = temporaryFolderOfFile();
const CHANGES = [
  { percentage: 10, reason: 'a first look' },
  { percentage: 100, reason: 'it works' },
].map((change, index) => {
  const json = JSON.stringify({ type: 'changed', ...change });
  const timeMs = CART_TIME_MS + index * 3_600_000;
  return {
    kind: 'event',
    seq: index + 1,
    timeMs,
    event: { manifest: 'flag-event', json },
  } as const;
});

beforeAll(async () => {
  writeFileSync(join(folder, 'shopping-cart.wasm'), await compileFixture('shopping-cart'));
  mkdirSync(join(folder, '.svc'));
  await fillCart(join(folder, '.svc', 'shopping-cart'));
  copyFlagsProgram(folder);
  fillProgramFolder(folder, {});
  await withJournal(join(folder, '.svc', 'flags'), async (journal) => {
    await append(journal, { component: 'flag', id: 'new-search' }, ...CHANGES);
  });
});

const commands = snippetsOf(PAGE, 'sh').map(({ code }) => code.trim());
const outputs = snippetsOf(PAGE, 'text').map(({ code }) => code);

test('each command of the page stands before what it prints', () => {
  expect(commands.length).toBeGreaterThan(3);
  expect(outputs).toHaveLength(commands.length);
});

test.each(commands.map((command, index) => [command, outputs[index]!] as const))(
  '%s',
  async (command, output) => {
    const [, ...args] = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, bare]) => quoted ?? bare!,
    );
    const env = { FORCE_COLOR: undefined, NO_COLOR: undefined };
    expect(await runSvc(args, { cwd: folder, env })).toMatchObject({
      code: 0,
      stdout: output,
      stderr: '',
    });
  },
);
