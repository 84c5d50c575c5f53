// StartedCart: the cart in TypeScript as a process of its own, which ends with the test.
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { StartCart } from '../../../suites/process-program-suite.ts';
import { SvcProcess } from '../../../support/host-process.ts';

const PROGRAM = join(import.meta.dirname, 'cart-program.ts');

export const startCart: StartCart = async (port, version) => {
  const env = { SVC_PROCESS_PORT: String(port) };
  const cart = new SvcProcess([version], { program: PROGRAM, env });
  onTestFinished(() => void cart.child.kill('SIGKILL'));
  await cart.printed(/listening at (\S+)/);
  return cart;
};
