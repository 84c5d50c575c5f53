// What the page on an entity's past shows is what svc entity prints.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { fillCart } from '../support/cart-journal.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const PAGE = 'docs/how-to/looking-into-the-past.md';
const folder = temporaryFolderOfFile();

beforeAll(async () => {
  writeFileSync(join(folder, 'shopping-cart.wasm'), await compileFixture('shopping-cart'));
  mkdirSync(join(folder, '.svc'));
  await fillCart(join(folder, '.svc', 'shopping-cart'));
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
