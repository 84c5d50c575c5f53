// The two tiers of tests: `npm test` runs `main`, `npm run test:long` runs `long`. A file is in the long tier when its
// name ends in `.long.test.ts`.
import { defineConfig } from 'vitest/config';

const LONG = '**/*.long.test.ts';
const TESTS = ['test/**/*.test.ts', 'examples/*/test/**/*.test.ts'];

// oxlint-disable-next-line import/no-default-export -- vitest asks for one
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // A test waits for what it asks for, however slow the machine: these only end one that waits in vain.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      { extends: true, test: { name: 'main', include: TESTS, exclude: [LONG, 'node_modules'] } },
      {
        extends: true,
        test: { name: 'long', include: TESTS.map((path) => path.replace('*.test', '*.long.test')) },
      },
    ],
  },
});
