import { defineConfig } from 'vitest/config';

// oxlint-disable-next-line import/no-default-export -- vitest asks for one
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'examples/*/test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // A test waits for what it asks for, however slow the machine: these only end one that waits in vain.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
