// A guest in another language, as a user has it: packaged with the commands of the how-to page, checked,
// served by a real process, killed, and its journal taken over by its twin in AssemblyScript and back.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess, runSvc } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs/how-to/other-languages.md'), 'utf8');
const folder = temporaryFolderOfFile();
const module = join(folder, 'cart.wasm');
const twin = join(folder, 'twin.wasm');
const running: SvcProcess[] = [];

beforeAll(async () => {
  cpSync(join(root, 'fixtures/wat-shopping-cart'), folder, { recursive: true });
  cpSync(join(root, 'wit/0.1.0/runtime.wit'), join(folder, 'runtime.wit'));
  const [, commands] = /^```sh\n([\s\S]*?)^```$/m.exec(page)!;
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const script = commands!.replace('npx jco', 'jco').replaceAll(/^npx svc .*\n/gm, '');
  const path = [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  execFileSync('sh', ['-ec', script], { cwd: folder, env: { ...process.env, PATH: path } });
  writeFileSync(twin, await compileFixture('shopping-cart'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.end('SIGKILL')));
});

async function start(file: string, data: string): Promise<{ process: SvcProcess; url: string }> {
  const process = new SvcProcess(['run', file, '--port', '0', '--data', join(folder, data)]);
  running.push(process);
  return { process, url: await process.listening() };
}

const post = async (url: string, body: unknown) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const cart = async (url: string, id: string) =>
  (await fetch(`${url}/carts/${encodeURIComponent(id)}`)).json();

describe('a guest in WAT', () => {
  test('is admitted, with its strings in UTF-8', async () => {
    const { code, stdout } = await runSvc(['inspect', module]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^admitted\n/),
    });
    expect(stdout).toContain('utf8');
    expect(stdout).toContain('/carts/{id}/items');
  });

  test('serves requests, refuses, logs, and has its state after kill -9', async () => {
    const id = 'größe 😀';
    const first = await start(module, 'journal');
    const items = `${first.url}/carts/${encodeURIComponent(id)}/items`;
    const view = { id, items: [{ sku: 'Äpfel 🍎\n', quantity: 2 }], checkedOut: false };
    expect(await cart(first.url, id)).toEqual({ ...view, items: [] });
    const answer = await post(items, { sku: 'Äpfel 🍎\n', quantity: 2, note: 'für dich' });
    expect([answer.status, await answer.json()]).toEqual([200, view]);
    const refused = await post(items, { sku: 'Äpfel', quantity: 2.5 });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      {
        status: 400,
        error: 'quantity: must be an integer from -2147483648 to 2147483647, found 2.5',
      },
    ]);
    const missing = await fetch(`${items}/none`);
    expect([missing.status, await missing.json()]).toEqual([
      404,
      { status: 404, error: "the cart has no 'none'" },
    ]);
    await first.process.end('SIGKILL');

    const second = await start(module, 'journal');
    expect(await cart(second.url, id)).toEqual(view);
    const checkOut = `${second.url}/carts/${encodeURIComponent(id)}/check-out`;
    expect((await fetch(checkOut, { method: 'POST' })).status).toBe(204);
    await second.process.logged(/checked out: größe 😀/);
    expect(await cart(second.url, id)).toEqual({ ...view, checkedOut: true });
  });

  test('shares its journal with the same component in another language', async () => {
    const first = await start(module, 'shared');
    await post(`${first.url}/carts/c/items`, { sku: '漢字', quantity: 2 });
    await first.process.end('SIGKILL');

    const second = await start(twin, 'shared');
    await post(`${second.url}/carts/c/items`, { sku: '漢字', quantity: 3 });
    await post(`${second.url}/carts/c/items`, { sku: 'tab\t"quoted"', quantity: 1 });
    const seen = await cart(second.url, 'c');
    await second.process.end('SIGKILL');

    const third = await start(module, 'shared');
    expect(await cart(third.url, 'c')).toEqual(seen);
    expect(seen).toEqual({
      id: 'c',
      items: [
        { sku: '漢字', quantity: 5 },
        { sku: 'tab\t"quoted"', quantity: 1 },
      ],
      checkedOut: false,
    });
  });
});
