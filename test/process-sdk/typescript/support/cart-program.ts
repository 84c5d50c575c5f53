// A program that serves the shopping cart in a process of its own, and says where.
import { serveProcess } from '../../../../process-sdk/typescript/index.ts';
import { cart, cartEndpoint } from '../../../components/support/cart.ts';

const { address } = await serveProcess({ entities: [cart], endpoints: [cartEndpoint] });
console.log(`listening at ${address}`);
