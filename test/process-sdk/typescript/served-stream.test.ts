// A stream of the SDK answers what the runtime cancels, whatever the handlers do.
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createEmbeddedGuest } from '../../../components/embedded-guest.ts';
import {
  FromProcess,
  type ToProcessFrame,
} from '../../../process-protocol/generated/svc/process/v1/process.ts';
import { defineEndpoint, get } from '../../../process-sdk/typescript/index.ts';
import { ServedStream } from '../../../process-sdk/typescript/served-stream.ts';

const endpoint = defineEndpoint({
  name: 'WaitEndpoint',
  prefix: '/wait',
  access: 'internet',
  routes: { forever: get('/', {}, () => new Promise<null>(() => {})) },
});

test('handlers that never settle are answered and forgotten when they are cancelled', async () => {
  const messages: Buffer[] = [];
  const problems: unknown[] = [];
  const duplex = Object.assign(new EventEmitter(), {
    write: (message: Buffer) => messages.push(message) > 0,
    end: () => {},
  });
  duplex.on('error', (problem) => problems.push(problem));
  const guest = createEmbeddedGuest({ endpoints: [endpoint] });
  const stream = new ServedStream({ guest, duplex: duplex as never, instance: 'one' });
  const receive = (call: number, frame: ToProcessFrame['frame']) =>
    duplex.emit('data', { frames: [{ call, entity: 0, frame }], bytes: 0 });
  const window = { bytes: 64 * 1024 * 1024, calls: 8, frameBytes: 1024 * 1024 };
  const hello = { versions: [1], service: 'carts', shard: 0, shards: 1, pingMs: 0 };
  receive(0, { $case: 'hello', value: { ...hello, window, developing: true } });
  const handle = {
    context: { nowMs: 0, seedHigh: 0, seedLow: 0, metadata: [] },
    route: 0,
    parameters: [],
    query: '',
    headers: [],
    caller: 'local',
    body: undefined,
  };
  // One more than may run at the same time.
  for (let call = 1; call <= 10_001; call++) {
    receive(call, { $case: 'handle', value: handle });
    receive(call, { $case: 'cancel', value: { reason: 'its time is over' } });
  }
  expect(problems).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  const answers = messages.flatMap((message) => FromProcess.decode(message).frames);
  const faults = answers.filter(({ frame }) => frame?.$case === 'fault');
  expect(new Set(faults.map(({ call }) => call)).size).toBe(10_001);
  stream.close();
});
