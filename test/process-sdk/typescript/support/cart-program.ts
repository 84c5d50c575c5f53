// A program that serves the shopping cart in a process of its own, and says where. Its argument is the version of the cart.
import { serveProcess } from '../../../../process-sdk/typescript/index.ts';
import { cart, cartEndpoint } from '../../../components/support/cart.ts';

const [version = '1'] = process.argv.slice(2);
const components = { entities: [cart], endpoints: [cartEndpoint], version };
const { address } = await serveProcess(components);
console.log(`listening at ${address}`);
