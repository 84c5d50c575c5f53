// What `npm start` and `svc run` write when they serve, into pipes: who reads it is no terminal.
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { writeFile } from 'node:fs/promises';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = temporaryFolderOfFile();
const cart = join(folder, 'cart.wasm');

beforeAll(async () => writeFile(cart, await compileFixture('shopping-cart')));

function started(args: readonly string[], env: NodeJS.ProcessEnv = {}, program?: string) {
  const data = join(temporaryFolder(), 'data');
  const process = new SvcProcess([...args, `--data=${data}`], {
    env: { SVC_HTTP_PORT: '0', ...env },
    ...(program !== undefined && { program }),
  });
  onTestFinished(async () => void (await process.end('SIGTERM')));
  return process;
}

describe('npm start', () => {
  const start = join(root, 'scripts', 'start.ts');

  test('into a pipe lists the routes and requests to try, without colours', async () => {
    const process = started([], {}, start);
    const url = await process.listening();
    await process.logged(/npx svc console/);
    expect(process.stdout).toBe(`${url}\n`);
    expect(process.stderr).toContain('  GET     /carts/{id}\n');
    expect(process.stderr).toContain(`\nTry:\n  curl -X POST`);
    // oxlint-disable-next-line no-control-regex -- it is what is looked for
    expect(process.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  test('writes its log in the format that the setting names', async () => {
    const process = started([], { SVC_LOG: 'json' }, start);
    await process.listening();
    await process.logged(/"message":"listening"/);
    expect(process.stderr).not.toContain('Try:');
  });
});

test('svc run is registered before it says that it listens', async () => {
  const running = join(temporaryFolder(), 'running');
  const process = started(['run', cart], { SVC_RUNNING_DIR: running });
  await once(process.child.stdout!, 'data');
  expect(existsSync(running) ? readdirSync(running) : []).toHaveLength(1);
  expect(process.stdout).toMatch(/^http:/);
});

test('svc run says that no other service can call one whose name begins with a digit', async () => {
  const process = started(['run', cart, '--name', '2048']);
  await process.listening();
  await process.logged(/"message":"listening"/);
  expect(process.stderr).toContain('"reason":"its name 2048 begins with a digit"');
});
