// Measurements (da) to (dc2): requests to the cart in a process of its own, compared with the same cart embedded. All processes
// of a side and the load share all cores.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { requestText, sendPipelined } from '../pipelined-client.ts';
import { processorUs } from '../processor-time.ts';
import { median, type Measurement, type Pace } from '../report.ts';
import { startEmbeddedCart, startProcessRuntime } from '../service.ts';
import { type CartLanguage, startCartProcess } from './cart-languages.ts';

const CONNECTIONS = 64;
const ENTITIES = 1_000;
/** Processor time is measured in hundredths of a second. */
const SECONDS_MIN = 1;
const US_PER_SECOND = 1e6;
const ITEM = '{"sku":"a","quantity":1}';

const carts = Array.from({ length: ENTITIES }, (_, index) => `/carts/c${index}`);
const SCENARIOS = [
  {
    letter: 'da',
    what: `durable POST, ${ENTITIES.toLocaleString('en-US')} entities`,
    requests: carts.map((path) => requestText('POST', `${path}/items`, ITEM)),
  },
  {
    letter: 'db',
    what: `GET of a query, ${ENTITIES.toLocaleString('en-US')} entities`,
    requests: carts.map((path) => requestText('GET', path)),
  },
  {
    letter: 'dc',
    what: 'durable POST, one entity',
    requests: [requestText('POST', '/carts/only/items', ITEM)],
  },
];

/** A running cart. */
interface Side {
  readonly url: string;
  /** Processes that serve it. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** Requests per second, and per second of the processor time of all processes of a side. */
interface Rate {
  readonly perSecond: number;
  readonly perProcessorSecond: number;
}

export async function measureRequests(
  wanted: ReadonlySet<string>,
  pace: Pace,
  languages: readonly CartLanguage[],
): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const sides: Side[] = [];
  try {
    const embedded = await startEmbedded(join(folder, 'embedded'));
    sides.push(embedded);
    const hosted: { readonly language: CartLanguage; readonly side: Side }[] = [];
    for (const language of languages) {
      const side = await startHosted(language, join(folder, language.name));
      sides.push(side);
      hosted.push({ language, side });
    }
    const measurements: Measurement[] = [];
    for (const scenario of SCENARIOS) {
      const measured = hosted.filter(({ language }) =>
        wanted.has(`${scenario.letter}${language.suffix}`),
      );
      if (measured.length > 0)
        measurements.push(...(await measureScenario(scenario, embedded, measured, pace)));
    }
    return measurements;
  } finally {
    for (const side of sides) await side.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureScenario(
  { letter, what, requests }: (typeof SCENARIOS)[number],
  embedded: Side,
  hosted: readonly { readonly language: CartLanguage; readonly side: Side }[],
  { seconds, rounds, warmUpSeconds }: Pace,
): Promise<Measurement[]> {
  const forSeconds = Math.max(seconds, SECONDS_MIN);
  for (const side of [embedded, ...hosted.map((one) => one.side)])
    await rateOf(side, requests, warmUpSeconds);
  const figures: { readonly embedded: Rate; readonly hosted: readonly Rate[] }[] = [];
  for (let round = 0; round < rounds; round++) {
    const beside = await rateOf(embedded, requests, forSeconds);
    const rates: Rate[] = [];
    for (const { side } of hosted) rates.push(await rateOf(side, requests, forSeconds));
    figures.push({ embedded: beside, hosted: rates });
  }
  return hosted.map(({ language }, index) => {
    const ratio = (rate: keyof Rate) =>
      median(figures.map((figure) => figure.hosted[index]![rate] / figure.embedded[rate]));
    const byProcessor = ratio('perProcessorSecond').toFixed(2);
    return {
      letter: `${letter}${language.suffix}`,
      what: `process in ${language.name}: ${what}, ${CONNECTIONS} connections; by processor time the ratio is ${byProcessor}`,
      svc: median(figures.map((figure) => figure.hosted[index]!.perSecond)),
      beside: 'the same cart embedded',
      other: median(figures.map((figure) => figure.embedded.perSecond)),
      unit: 'per second',
      ratio: ratio('perSecond'),
      cores: `all ${availableParallelism()} a side, the load included`,
    };
  });
}

async function startEmbedded(dataFolder: string): Promise<Side> {
  const service = await startEmbeddedCart(dataFolder);
  return { url: service.url, pids: [service.pid], stop: () => service.stop() };
}

async function startHosted(language: CartLanguage, dataFolder: string): Promise<Side> {
  const held = await startCartProcess(language);
  try {
    const runtime = await startProcessRuntime(held.address, dataFolder);
    const stop = async (): Promise<void> => {
      await runtime.stop();
      await held.stop();
    };
    return { url: runtime.url, pids: [runtime.pid, held.pid], stop };
  } catch (error) {
    await held.stop();
    throw error;
  }
}

async function rateOf(side: Side, requests: readonly string[], seconds: number): Promise<Rate> {
  const usedUs = (): number => side.pids.reduce((sum, pid) => sum + processorUs(pid), 0);
  const beforeUs = usedUs();
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1_000;
  let turn = 0;
  const answered = await sendPipelined({
    port: Number(new URL(side.url).port),
    connections: CONNECTIONS,
    depth: 1,
    next: () => (performance.now() < untilMs ? requests[turn++ % requests.length] : undefined),
  });
  return {
    perSecond: (answered * 1_000) / (performance.now() - startedMs),
    perProcessorSecond: (answered * US_PER_SECOND) / (usedUs() - beforeUs),
  };
}
