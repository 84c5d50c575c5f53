// Whole programs whose code is in a process of its own, in TypeScript.
import { expect, onTestFinished } from 'vitest';
import { join } from 'node:path';
import { processProgramSuite } from '../../suites/process-program-suite.ts';
import { SvcProcess } from '../../support/host-process.ts';

const PROGRAM = join(import.meta.dirname, 'support', 'cart-program.ts');

processProgramSuite(async (port, version) => {
  const env = { SVC_PROCESS_PORT: String(port) };
  const cart = new SvcProcess([version], { program: PROGRAM, env });
  onTestFinished(() => void cart.child.kill('SIGKILL'));
  await expect.poll(() => cart.stdout, { timeout: 60_000 }).toContain('listening at');
  return cart;
});
