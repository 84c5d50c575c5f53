// Whole programs whose code is in a process of its own, in TypeScript.
import { onTestFinished } from 'vitest';
import { join } from 'node:path';
import { processProgramSuite } from '../../suites/process-program-suite.ts';
import { SvcProcess } from '../../support/host-process.ts';

const PROGRAM = join(import.meta.dirname, 'support', 'cart-program.ts');

processProgramSuite(startCart);

async function startCart(port: number, version: string): Promise<SvcProcess> {
  const env = { SVC_PROCESS_PORT: String(port) };
  const cart = new SvcProcess([version], { program: PROGRAM, env });
  onTestFinished(() => void cart.child.kill('SIGKILL'));
  await cart.printed(/listening at (\S+)/);
  return cart;
}
