// A service whose code is in a process of its own, in TypeScript, as whole programs.
import { processProgramSuite } from '../../suites/process-program-suite.ts';
import { startCart } from './support/started-cart.ts';

processProgramSuite(startCart);
