// The embedded hosting keeps what every hosting has to keep.
import { hostingSuite } from '../../../suites/hosting-suite.ts';
import { cartGuest } from './support/cart.ts';

hostingSuite('embedded', async () => cartGuest());
