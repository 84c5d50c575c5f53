// The program of the TypeScript SDK for the conformance suite: it serves the tally, and says where.
import { serveProcess } from '../../../../process-sdk/typescript/index.ts';
import { components } from './tally.ts';

const { address } = await serveProcess(components);
console.log(`listening at ${address}`);
