// The sources of the module under test.
import { copyFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { testEntity, testModule } from '../../../guest-sdk/testing/index.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { laterFailureOf } from './failure.ts';

// The test compiles, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const COUNTER = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'fixtures',
  'counter',
  'assembly',
  'index.ts',
);

function copyOfCounter(): string {
  const folder = join(temporaryFolder(), 'assembly');
  mkdirSync(folder);
  const file = join(folder, 'index.ts');
  copyFileSync(COUNTER, file);
  return file;
}

test('an AssemblyScript file is compiled as it is now, whatever its time says', async () => {
  const file = copyOfCounter();
  const written = readFileSync(file, 'utf8');
  const put = (text: string) => {
    writeFileSync(file, text);
    utimesSync(file, 1_000_000_000, 1_000_000_000);
  };
  put(written);
  for (const module of [await testModule(file), await testModule(pathToFileURL(file))])
    testEntity(module, 'counter', 'a').when('add', { amount: 2 }).thenReply({ value: 2 });
  put(written.replace('must be positive', 'is too small'));
  const changed = await testModule(file);
  testEntity(changed, 'counter', 'a').when('add', { amount: 0 }).thenRefused({ message: /small/ });
});

test('a relative path is looked for from the test file upwards', async () => {
  const module = await testModule('fixtures/counter/assembly/index.ts');
  expect(module.descriptor.entities.map(({ component }) => component)).toEqual(['counter']);
  const { message } = await laterFailureOf(() => testModule('no/such/file.ts'));
  expect(message).toContain("There is no file 'no/such/file.ts' in ");
});

test('a compiled module is read, and bytes are taken as they are', async () => {
  const bytes = await compileFixture('counter');
  const file = join(temporaryFolder(), 'counter.wasm');
  writeFileSync(file, bytes);
  for (const module of [await testModule(file), await testModule(bytes)])
    testEntity(module, 'counter', 'a').query('get').thenReply({ value: 0 });
});

test('what does not compile says where and why, what the host would not run says why', async () => {
  const file = copyOfCounter();
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace('value: i32', 'value: i32 = 0; other: banana'),
  );
  const { message } = await laterFailureOf(() => testModule(file));
  expect(message).toMatch(/index\.ts.*banana/);
  await expect(testModule(new Uint8Array(3))).rejects.toMatchObject({
    code: 'SVC_MODULE_NOT_WASM',
  });
});

test('the place of a trap is a path from the working folder', async () => {
  const module = await testModule('fixtures/impure/assembly/index.ts');
  const path = relative(
    process.cwd(),
    join(COUNTER, '..', '..', '..', 'impure', 'assembly', 'index.ts'),
  );
  expect(() => testEntity(module, 'shelf', 's1').when('boom')).toThrow(
    `abort: no shelf at ${path}:`,
  );
});
