// Where `svc build` writes a component that no -o names, and what it says of that.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { QUERY, entity } from '../guest-sdk/support/user-projects.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a source of another folder becomes a component in the working folder, and build says so', async () => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'assembly'));
  writeFileSync(join(cwd, 'assembly', 'index.ts'), entity(QUERY));
  const built = await runSvc(['build', 'assembly/index.ts'], { cwd });
  expect(built).toMatchObject({ code: 0, stdout: '' });
  expect(built.stderr).toMatch(
    /^index\.wasm in the working folder \(-o names another file\): \d+ KiB/,
  );
  expect(existsSync(join(cwd, 'index.wasm'))).toBe(true);
  expect(existsSync(join(cwd, 'assembly', 'index.wasm'))).toBe(false);
});

test('a view is in the sum of what was built', async () => {
  const cwd = temporaryFolder();
  const entry = join(import.meta.dirname, '../../fixtures/customer-orders/assembly/index.ts');
  const built = await runSvc(['build', entry], { cwd });
  expect(built.stderr).toMatch(/ KiB, 1 entity, 3 routes, 1 view, in /);
});
