// The embedded hosting passes the suites of all hostings.
import { hostingConsumerSuite } from '../suites/hosting-consumer-suite.ts';
import { hostingSuite } from '../suites/hosting-suite.ts';
import { hostingTimerSuite } from '../suites/hosting-timer-suite.ts';
import { hostingViewSuite } from '../suites/hosting-view-suite.ts';
import { cartGuest } from './support/cart.ts';
import { orderListGuest } from './support/order-list.ts';
import { orderGuest } from './support/order.ts';

hostingSuite('embedded', async () => cartGuest());
hostingTimerSuite('embedded', async () => orderGuest());
hostingViewSuite('embedded', async () => orderListGuest());
hostingConsumerSuite('embedded', async () => orderListGuest());
