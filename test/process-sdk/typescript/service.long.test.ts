// A deployed service whose process in TypeScript becomes another one, as whole programs.
import { replacedProcessSuite } from '../../suites/process-program-suite.ts';
import { startCart } from './support/started-cart.ts';

replacedProcessSuite(startCart);
