// The hosting in a process passes the suites of all hostings, with components in TypeScript.
import { hostingConsumerSuite } from '../../suites/hosting-consumer-suite.ts';
import { hostingSuite } from '../../suites/hosting-suite.ts';
import { hostingTimerSuite } from '../../suites/hosting-timer-suite.ts';
import { hostingViewSuite } from '../../suites/hosting-view-suite.ts';
import { cart, cartEndpoint } from '../../components/support/cart.ts';
import { components } from '../../components/support/order-list.ts';
import { order, orderEndpoint } from '../../components/support/order.ts';
import { servedGuest } from './support/served-guest.ts';

hostingSuite('process', () => servedGuest({ entities: [cart], endpoints: [cartEndpoint] }));
hostingTimerSuite('process', () => servedGuest({ entities: [order], endpoints: [orderEndpoint] }));
hostingViewSuite('process', () => servedGuest(components));
hostingConsumerSuite('process', () => servedGuest(components));
