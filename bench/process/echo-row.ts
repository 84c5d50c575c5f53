// Measurement (de): the processor time that one call of a process costs the runtime: the stream itself, without engine and journal. The
// process answers a query with its input.
import { median, type Measurement, type Pace } from '../report.ts';
import { NO_SHARD } from '../../host/hosting/guest-shard.ts';
import {
  openProcessStream,
  type ProcessStream,
} from '../../host/hosting/process/process-stream.ts';
import { CART } from './cart-engine.ts';
import { withCartProcess } from './cart-guest.ts';
import { TYPESCRIPT } from './cart-languages.ts';

const IN_FLIGHT = 64;
const TIMEOUT_MS = 5_000;
const AIM_US = 3;
const TEXT = '{"text":"0123456789"}';
const CONTEXT = { nowMs: 1_700_000_000_000, seedHigh: 1, seedLow: 2, metadata: [] };
const ECHO = { $case: 'query', value: { context: CONTEXT, name: 'echo', input: TEXT } } as const;

interface Cost {
  readonly usPerCall: number;
  readonly callsPerSecond: number;
}

export async function measureEcho({ seconds, rounds, warmUpSeconds }: Pace): Promise<Measurement> {
  const costs: Cost[] = [];
  await withCartProcess(TYPESCRIPT, async ({ connection }) => {
    const events = { log: () => {}, ended: () => {} };
    const stream = await openProcessStream(connection, NO_SHARD, events);
    const entity = stream.newEntity();
    const value = { component: CART, id: 'echo', alone: false, snapshot: undefined };
    stream.send(0, entity, { $case: 'open', value });
    await echoed(stream, entity, warmUpSeconds);
    for (let round = 0; round < rounds; round++) costs.push(await echoed(stream, entity, seconds));
    stream.close();
  });
  const perSecond = Math.round(median(costs.map((cost) => cost.callsPerSecond)));
  return {
    letter: 'de',
    what: `process: processor time of the runtime for a call of the stream, echoing, ${IN_FLIGHT} in flight`,
    svc: median(costs.map((cost) => cost.usPerCall)),
    beside: `the aim is ${AIM_US} µs; ${perSecond.toLocaleString('en-US')} calls a second`,
    other: undefined,
    unit: 'µs',
    ratio: undefined,
    cores: 'the runtime and the process share all',
  };
}

async function echoed(stream: ProcessStream, entity: number, seconds: number): Promise<Cost> {
  const before = process.cpuUsage();
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1_000;
  let calls = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const call = { entity, frame: ECHO, timeoutMs: TIMEOUT_MS, subject: 'echo' };
      const answer = await stream.call(call).answer;
      if (answer.$case !== 'reply' || answer.value.json !== TEXT)
        throw new Error(`the process answered ${JSON.stringify(answer)}`);
      calls++;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  const { user, system } = process.cpuUsage(before);
  return {
    usPerCall: (user + system) / calls,
    callsPerSecond: (calls * 1_000) / (performance.now() - startedMs),
  };
}
