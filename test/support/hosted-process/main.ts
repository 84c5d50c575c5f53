// The shopping cart in a process, as the program of an image. `FAILS`: it ends at its start with this message; `MUTE`: it never listens.
import { serveProcess } from '@svc/process';
import { cart, cartEndpoint } from './cart.ts';
import { probes } from './probes.ts';

const { FAILS, MUTE, VERSION = '1' } = process.env;
if (FAILS !== undefined) throw new Error(FAILS);
console.log('the cart begins');
if (MUTE === undefined)
  await serveProcess({ entities: [cart], endpoints: [cartEndpoint, probes], version: VERSION });
else setInterval(() => {}, 1000);
