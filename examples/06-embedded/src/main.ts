// The program: it serves the flags, and ends when it is told to.
import { parseArgs } from 'node:util';
import { createService } from '@svc/host';
import { components } from './components.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9000' },
    data: { type: 'string', default: '.svc/flags' },
  },
});

const service = await createService({
  name: 'flags',
  ...components,
  dataFolder: values.data,
  http: { port: Number(values.port) },
});
console.log(service.url);

const ended = async () => {
  await service.stop();
  process.exit(0);
};
process.once('SIGTERM', ended).once('SIGINT', ended);
// Without its journal it can promise nothing any more.
const failure = await service.failure;
process.stderr.write(`${failure.message}\n`);
process.exit(1);
