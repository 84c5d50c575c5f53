// A service whose code is in a process of its own, in Python, as whole programs.
import { describe } from 'vitest';
import { processProgramSuite } from '../../suites/process-program-suite.ts';
import { python } from '../../support/python.ts';
import { startCart } from './support/started-cart.ts';

describe.skipIf(python === undefined)('the cart in Python', () => {
  processProgramSuite(startCart);
});
