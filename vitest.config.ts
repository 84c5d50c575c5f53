// The two tiers of tests: `npm test` runs the projects `main` and `main-shared`, `npm run test:long` runs `long`, `long-15` and `long-database`. A file
// is in the long tier when its name ends in `.long.test.ts`. A file of the main tier whose tests run on two PostgreSQL servers runs on
// PostgreSQL 18 in the main tier, and on PostgreSQL 15 in the long one. A file whose services have journals in memory and in folders in
// the main tier has them in PostgreSQL in the long one if it asks for that.
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { HAS_DEBIAN, NOT_TESTED_ON_15 } from './test/support/postgres/postgres-programs.ts';

const LONG = '**/*.long.test.ts';
const EXAMPLES = 'examples/*/test/**/*.test.ts';
/**
 * Folders whose files run one after the other in the same process: most of their time would be the start of a process
 * and the load of the same modules. test/support/unchanged-process.ts fails a file that leaves its process changed.
 */
const SHARED_FOLDERS: readonly string[] = [
  'addresses',
  'api',
  'architecture',
  'client',
  'components',
  'console',
  'contract',
  'control-plane',
  'deploy',
  'docs',
  'forward',
  'gateway',
  'guest-sdk',
  'host',
  'http1',
  'identity',
  'kit',
  'login-provider',
  'model',
  'oci',
  'process-protocol',
  'registry',
  'routing',
  'scripts',
  'tokens',
  'webhooks',
];
const folders = readdirSync(join(import.meta.dirname, 'test'));
const OTHER_FOLDERS = folders.filter((folder) => !SHARED_FOLDERS.includes(folder));
const testsOf = (folder: string) => `test/${folder}/**/*.test.ts`;
/** Files that stop the clock of their process, on which nothing of another file may wait. */
const WITH_FAKE_TIMERS = SHARED_FOLDERS.flatMap((folder) =>
  globSync(testsOf(folder), { cwd: import.meta.dirname }),
).filter((file) => readFileSync(join(import.meta.dirname, file), 'utf8').includes('useFakeTimers'));
/** Files of these folders that need a process of their own. */
const ALONE = [
  ...WITH_FAKE_TIMERS,
  // Replaces a module of Node, which must not be loaded before.
  'test/console/server/service-call.test.ts',
  // Measures the memory of its process.
  'test/host/http/unsent-memory.test.ts',
  // The test kit as its users have it: each file in a process of its own.
  'test/guest-sdk/testing/**/*.test.ts',
  // Counts the sockets of its process.
  'test/http1/connections/server-ends.test.ts',
];

/** Returns the files of the main tier that contain a text. */
function filesWith(text: string): readonly string[] {
  return globSync('test/**/*.test.ts', { cwd: import.meta.dirname })
    .filter((file) => !file.endsWith('.long.test.ts'))
    .filter((file) => readFileSync(join(import.meta.dirname, file), 'utf8').includes(text));
}

if (!HAS_DEBIAN) console.log(NOT_TESTED_ON_15);

// oxlint-disable-next-line import/no-default-export -- vitest asks for one
export default defineConfig({
  test: {
    pool: 'forks',
    // Tests wait for processes, leases and servers: with as many workers as the two processors that they need, a fifth of the time would be idle.
    maxWorkers: 3,
    // A test waits for what it asks for, however slow the machine: these only end one that waits in vain.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          env: { SVC_TEST_POSTGRES: '18' },
          include: ['test/*.test.ts', EXAMPLES, ...OTHER_FOLDERS.map(testsOf), ...ALONE],
          exclude: [LONG],
        },
      },
      {
        extends: true,
        test: {
          name: 'main-shared',
          env: { SVC_TEST_POSTGRES: '18' },
          include: SHARED_FOLDERS.map(testsOf),
          exclude: [LONG, ...ALONE],
          isolate: false,
          setupFiles: ['test/support/unchanged-process.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/**/*.long.test.ts', EXAMPLES.replace('*.test', '*.long.test')],
        },
      },
      {
        extends: true,
        test: {
          name: 'long-15',
          env: { SVC_TEST_POSTGRES: '15' },
          include: HAS_DEBIAN ? [...filesWith('serverVersions()')] : [],
          isolate: false,
          setupFiles: ['test/support/unchanged-process.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'long-database',
          env: { SVC_TEST_JOURNAL: 'postgres' },
          include: [...filesWith('orDatabase(')],
          isolate: false,
          setupFiles: ['test/support/unchanged-process.ts'],
        },
      },
    ],
  },
});
