// Whole programs whose code is in a process of its own, in Python.
import { describe, onTestFinished } from 'vitest';
import { join } from 'node:path';
import { processProgramSuite } from '../../suites/process-program-suite.ts';
import { python, startPython } from '../../support/python.ts';

const PROGRAM = join(import.meta.dirname, 'support', 'cart_program.py');

describe.skipIf(python === undefined)('the cart in Python', () => {
  processProgramSuite(async (port, version) => {
    const { program } = await startPython(PROGRAM, [version], port);
    onTestFinished(() => void program.child.kill('SIGKILL'));
    return program;
  });
});
