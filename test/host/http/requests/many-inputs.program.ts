// A program of its own, whose memory is measured: 120 handlers wait for calls with inputs of 2 MiB each, which the engine answers once as many
// are waiting or turned down. Prints how many calls were done and turned down, and the largest resident set in MiB.
import type { HostCalls } from '../../../../model/guest.ts';
import { requestHandler } from '../../../../host/http/requests/request-handler.ts';
import type { Reply } from '../../../../model/call.ts';
import { KeptBytes } from '../../../../model/kept-bytes.ts';
import { requestBudgets } from '../../../../model/request-budgets.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

const HANDLERS = 120;
const MIB = 1024 * 1024;
const { unsent } = requestBudgets({
  unsentBytesMax: 24 * MIB,
  responseBytesMax: MIB,
  bodyBytesTotalMax: MIB,
});
const { promise: done, resolve } = Promise.withResolvers<Reply>();
/** Decoded, as an input that comes out of a module's memory, and with two bytes for each character. */
const bytes = Buffer.from('ω'.repeat(MIB));
const handle = requestHandler({
  guest: {
    endpoints: {
      async handle(_context, _request, calls: HostCalls) {
        await calls.call({ component: 'c', id: 'i' }, 'n', bytes.toString('utf8'), [], undefined);
        return { kind: 'response', status: 200, headers: [], body: { kind: 'none' } };
      },
    },
  },
  engine: {
    // As an entity does, in whose queue the call waits.
    call: (_target, _name, input) =>
      done.then(() => ({ kind: 'reply', json: String(input.length) })),
    ...WITHOUT_TIMERS,
    readEvents: async () => [],
  },
  clock: { nowMs: () => 1 },
  random: { next64: () => 1n },
});

const answers: Promise<string>[] = [];
let rssMib = 0;
for (let n = 0; n < HANDLERS; n++) {
  const request = {
    route: 0,
    parameters: [],
    query: '',
    headers: [],
    caller: 'local',
    body: { kind: 'none' },
  } as const;
  const waiter = { cancel: undefined, fuel: 0, kept: new KeptBytes(unsent) };
  answers.push(
    (async () => handle(request, [], waiter))().then(
      () => 'done',
      () => 'turned down',
    ),
  );
  await new Promise(setImmediate);
  // The system's own maximum begins with the size of the process that started this one.
  rssMib = Math.max(rssMib, Math.round(process.memoryUsage.rss() / MIB));
}
resolve({ kind: 'reply', json: '1' });
const ends = await Promise.all(answers);
const count = (end: string): number => ends.filter((one) => one === end).length;
process.stdout.write(
  JSON.stringify({ done: count('done'), turnedDown: count('turned down'), rssMib }),
);
