// The configuration of a vitest run within a test: the tests in this folder fail.
import { defineConfig } from 'vitest/config';

// oxlint-disable-next-line import/no-default-export -- vitest asks for one
export default defineConfig({
  test: { root: import.meta.dirname, include: ['*.failing.ts'], pool: 'threads', maxWorkers: 1 },
});
