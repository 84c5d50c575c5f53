import { defineConfig } from 'vitest/config';

// oxlint-disable-next-line import/no-default-export -- vitest asks for one
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'examples/*/test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
