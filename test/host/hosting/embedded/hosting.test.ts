// The embedded hosting passes the suite of all hostings.
import { hostingSuite } from '../../../suites/hosting-suite.ts';
import { cartGuest } from './support/cart.ts';

hostingSuite('embedded', async () => cartGuest());
