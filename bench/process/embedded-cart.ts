// EmbeddedCart: the cart in the process of its runtime.
//
// Usage: node bench/process/embedded-cart.ts DATA-FOLDER
import { createService } from '@svc/host';
import { CART_COMPONENTS } from './cart.ts';

const service = await createService({
  name: 'carts',
  ...CART_COMPONENTS,
  dataFolder: process.argv[2]!,
  http: { host: '127.0.0.1', port: 0 },
  deployed: true,
  log: 'json',
});
process.stdout.write(`${service.url}\n`);
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)));
