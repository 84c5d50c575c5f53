// StartedCart: the cart in Python as a process of its own, which ends with the test.
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { StartCart } from '../../../suites/process-program-suite.ts';
import { startPython } from '../../../support/python.ts';

const PROGRAM = join(import.meta.dirname, 'cart_program.py');

export const startCart: StartCart = async (port, version) => {
  const { program } = await startPython(PROGRAM, [version], port);
  onTestFinished(() => void program.child.kill('SIGKILL'));
  return program;
};
