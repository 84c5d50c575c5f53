// The table of routes on disk.
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRouteFile, writeRouteFile } from '../../routing/route-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { routedService } from './routed-services.ts';

const TABLE = { version: 7, services: [routedService('shop/cart')] };

test('a table is read as it was written, and nothing else is left in its folder', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'routes.json');
  expect(await readRouteFile(file)).toEqual({ problem: 'missing' });
  await writeRouteFile(file, { version: 1, services: [] });
  await writeRouteFile(file, TABLE);
  expect(await readRouteFile(file)).toEqual(TABLE);
  expect(readdirSync(folder)).toEqual(['routes.json']);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('what a writer that was killed has left is replaced', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'routes.json.new'), 'x'.repeat(10_000));
  await writeRouteFile(join(folder, 'routes.json'), TABLE);
  expect(await readRouteFile(join(folder, 'routes.json'))).toEqual(TABLE);
  expect(readdirSync(folder)).toEqual(['routes.json']);
});

test('a file that was cut off, changed or is foreign is refused', async () => {
  const file = join(temporaryFolder(), 'routes.json');
  await writeRouteFile(file, TABLE);
  const text = readFileSync(file, 'utf8');
  for (const changed of [
    text.replace('9000', '9001'),
    text.replace(/"digest":"\w/, '"digest":"x'),
    text.replace('"format":1', '"format":2'),
    '{}',
    'null',
    '',
  ]) {
    writeFileSync(file, changed);
    expect(await readRouteFile(file)).toHaveProperty('problem');
  }
  writeFileSync(file, text);
  for (let length = text.length - 1; length >= 0; length -= 17) {
    truncateSync(file, length);
    expect(await readRouteFile(file)).toHaveProperty('problem');
  }
});

test('a folder that is missing is the error of the system, and leaves no file behind', async () => {
  const folder = temporaryFolder();
  await expect(writeRouteFile(join(folder, 'none', 'routes.json'), TABLE)).rejects.toMatchObject({
    code: 'ENOENT',
  });
  expect(readdirSync(folder)).toEqual([]);
});
