// A deployed service whose process in Python becomes another one, as whole programs.
import { describe } from 'vitest';
import { replacedProcessSuite } from '../../suites/process-program-suite.ts';
import { python } from '../../support/python.ts';
import { startCart } from './support/started-cart.ts';

describe.skipIf(python === undefined)('the cart in Python', () => {
  replacedProcessSuite(startCart);
});
