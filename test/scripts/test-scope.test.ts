// testScope: the tests and checks of `npm test -- PATH…`, in a small repository of its own.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testScope } from '../../scripts/test-scope.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const root = temporaryFolderOfFile();
for (const file of [
  'host/http/stop.ts',
  'host/http/exchange.ts',
  'host/dev/dev-loop.ts',
  'host/system.ts',
  'proxy/main.ts',
  'test/host/http/stop.test.ts',
  'test/host/http/harness.ts',
  'test/host/dev/dev-loop.long.test.ts',
  'test/programs/shards.long.test.ts',
  'examples/01/test/hello.test.ts',
]) {
  mkdirSync(join(root, dirname(file)), { recursive: true });
  writeFileSync(join(root, file), '');
}

describe('npm test -- PATH', () => {
  test.each([
    [
      'a test',
      'test/host/http/stop.test.ts',
      { filters: ['test/host/http/stop.test.ts'], mirrored: ['host/http/stop.ts'] },
    ],
    [
      'a test of the long tier',
      'test/host/dev/dev-loop.long.test.ts',
      { filters: ['test/host/dev/dev-loop.long.test.ts'], mirrored: ['host/dev/dev-loop.ts'] },
    ],
    [
      'a folder of tests',
      'test/host/http',
      { filters: ['test/host/http'], mirrored: ['host/http'] },
    ],
    [
      'a test that mirrors nothing',
      'test/programs/shards.long.test.ts',
      { filters: ['test/programs/shards.long.test.ts'], mirrored: [] },
    ],
    [
      'a source',
      'host/http/stop.ts',
      { filters: ['test/host/http/stop.test.ts'], mirrored: ['test/host/http/stop.test.ts'] },
    ],
    [
      'a source without a test of its name',
      'host/http/exchange.ts',
      { filters: ['test/host/http'], mirrored: ['test/host/http'] },
    ],
    [
      'a source whose test is long',
      'host/dev/dev-loop.ts',
      {
        filters: ['test/host/dev/dev-loop.long.test.ts'],
        mirrored: ['test/host/dev/dev-loop.long.test.ts'],
      },
    ],
    ['a source without tests', 'proxy/main.ts', { filters: [], mirrored: [] }],
    ['all tests', 'test', { filters: ['test'], mirrored: [] }],
    [
      'a test of an example',
      'examples/01/test/hello.test.ts',
      { filters: ['examples/01/test/hello.test.ts'], mirrored: [] },
    ],
  ])('%s', (_name, path, { filters, mirrored }) => {
    expect(testScope(root, [path])).toEqual({ filters, sources: [path, ...mirrored] });
  });

  test('several paths are joined, each source once', () => {
    expect(testScope(root, ['test/host/http/', './host/http/stop.ts'])).toEqual({
      filters: ['test/host/http', 'test/host/http/stop.test.ts'],
      sources: ['test/host/http', 'host/http/stop.ts', 'host/http', 'test/host/http/stop.test.ts'],
    });
  });

  test.each(['host/http/stpo.ts', '../elsewhere', '.'])('refuses %s', (path) => {
    expect(() => testScope(root, [path])).toThrow(
      `there is no ${path} in this repository; npm test -- PATH takes its files`,
    );
  });
});
