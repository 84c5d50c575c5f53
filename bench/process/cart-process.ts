// CartProcess: the cart in a process of its own, at the port of the variable SVC_PROCESS_PORT.
//
// Usage: SVC_PROCESS_PORT=PORT node bench/process/cart-process.ts
import { serveProcess } from '@svc/process';
import { CART_COMPONENTS } from './cart.ts';

await serveProcess(CART_COMPONENTS);
