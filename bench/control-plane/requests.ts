// Measurements (aa) and (ab): requests to the control plane, compared with an embedded service that makes one call of an
// entity for each. Both have the same engine and HTTP server, so the ratio shows what the control plane adds: who the caller
// is, what they may do, and the calls of several entities.
import { availableParallelism } from 'node:os';
import { oneCoreForServer } from '../cores.ts';
import type { Loader } from '../load.ts';
import { requestText, sendPipelined } from '../pipelined-client.ts';
import { processorUs } from '../processor-time.ts';
import { median, type Measurement, type Pace } from '../report.ts';
import { startBareEmbedded, type Service } from '../service.ts';
import { descriptorOf, serviceName, SERVICES } from './filled-folder.ts';
import type { Installation } from './installation.ts';

const CONNECTIONS = 64;
const IN_FLIGHT = 32;
/** Services, and counters of the embedded service, that requests are for. */
const TARGETS_MAX = 1_000;
/** The load is measured in whole seconds, and processor time in hundredths. */
const SECONDS_MIN = 1;
const US_PER_SECOND = 1e6;
const BARE_FOLDER = 'bare';

/** Requests per second, and per second of the server's processor time. */
interface Rate {
  readonly perSecond: number;
  readonly perProcessorSecond: number;
}

/** Sends requests to a server for a time. */
type Load = (service: Service, seconds: number) => Promise<Rate>;

interface Sides<Value> {
  readonly control: Value;
  readonly bare: Value;
}

/** (aa): reading the status of a service, with a token that has been judged. */
export async function measureStatus(
  installation: Installation,
  pace: Pace,
  loader: Loader,
): Promise<Measurement> {
  const placement = oneCoreForServer();
  const pinned = placement.kind === 'pinned' ? placement : undefined;
  const authorization = `Bearer ${await installation.ownerToken()}`;
  const loadOf =
    (prefix: string, headers: Readonly<Record<string, string>>): Load =>
    async (service, seconds) => {
      const paths = targets(installation).map((name) => `${prefix}/${name}`);
      const beforeUs = processorUs(service.pid);
      const perSecond = await loader.run({
        url: service.url,
        method: 'GET',
        paths,
        body: undefined,
        headers,
        connections: CONNECTIONS,
        seconds,
        processors: pinned?.load,
      });
      const usedUs = processorUs(service.pid) - beforeUs;
      return { perSecond, perProcessorSecond: (perSecond * seconds * US_PER_SECOND) / usedUs };
    };
  const load = { control: loadOf(SERVICES, { authorization }), bare: loadOf('/counters', {}) };
  const rates = await inTurns(installation, load, pace, pinned?.server);
  return {
    letter: 'aa',
    what: `control plane: requests per second of processor time, GET of a service's status, token known, ${CONNECTIONS} connections`,
    svc: median(rates.map(({ control }) => control.perProcessorSecond)),
    beside: 'embedded service, GET of an entity',
    other: median(rates.map(({ bare }) => bare.perProcessorSecond)),
    unit: 'per second',
    ratio: median(
      rates.map(({ control, bare }) => control.perProcessorSecond / bare.perProcessorSecond),
    ),
    cores:
      placement.kind === 'pinned'
        ? 'one for the servers, the load on another'
        : `not pinned (${placement.reason}), shared with the load`,
  };
}

/** (ab): applying services that exist. */
export async function measureApply(installation: Installation, pace: Pace): Promise<Measurement> {
  const token = await installation.ownerToken();
  const names = targets(installation);
  const applies = names.map((name) =>
    requestText('PUT', `${SERVICES}/${name}`, JSON.stringify(descriptorOf(name)), token),
  );
  const posts = names.map((name) => requestText('POST', `/counters/${name}`, '{"amount":1}'));
  const load = { control: loadInFlight(applies), bare: loadInFlight(posts) };
  const rates = await inTurns(installation, load, pace);
  const byProcessor = median(
    rates.map(({ control, bare }) => control.perProcessorSecond / bare.perProcessorSecond),
  );
  return {
    letter: 'ab',
    what: `control plane: apply, distinct services, ${IN_FLIGHT} in flight; by processor time the ratio is ${byProcessor.toFixed(2)}`,
    svc: median(rates.map(({ control }) => control.perSecond)),
    beside: 'embedded service, durable POST',
    other: median(rates.map(({ bare }) => bare.perSecond)),
    unit: 'per second',
    ratio: median(rates.map(({ control, bare }) => control.perSecond / bare.perSecond)),
    cores: `all ${availableParallelism()} a side, the load included`,
  };
}

function targets({ services }: Installation): string[] {
  return Array.from({ length: Math.min(TARGETS_MAX, services) }, (_, index) => serviceName(index));
}

/** Sends the requests one after the other, so that no two are for the same service at the same time. */
function loadInFlight(requests: readonly string[]): Load {
  let turn = 0;
  return async (service, seconds) => {
    const port = Number(new URL(service.url).port);
    const beforeUs = processorUs(service.pid);
    const startedMs = performance.now();
    const untilMs = startedMs + seconds * 1_000;
    const answered = await sendPipelined({
      port,
      connections: IN_FLIGHT,
      depth: 1,
      next: () => (performance.now() < untilMs ? requests[turn++ % requests.length] : undefined),
    });
    const tookMs = performance.now() - startedMs;
    const usedUs = processorUs(service.pid) - beforeUs;
    return {
      perSecond: (answered * 1_000) / tookMs,
      perProcessorSecond: (answered * US_PER_SECOND) / usedUs,
    };
  };
}

/** Loads both servers in turns, and returns the rates of each round. */
async function inTurns(
  installation: Installation,
  load: Sides<Load>,
  pace: Pace,
  processors?: string,
): Promise<Sides<Rate>[]> {
  const seconds = Math.max(Math.ceil(pace.seconds), SECONDS_MIN);
  const control = await installation.start(processors);
  try {
    const bare = await startBareEmbedded(installation.folder(BARE_FOLDER), processors);
    try {
      if (pace.warmUpSeconds > 0) {
        await load.control(control, pace.warmUpSeconds);
        await load.bare(bare, pace.warmUpSeconds);
      }
      const rates: Sides<Rate>[] = [];
      for (let round = 0; round < pace.rounds; round++)
        rates.push({
          control: await load.control(control, seconds),
          bare: await load.bare(bare, seconds),
        });
      return rates;
    } finally {
      await bare.stop();
    }
  } finally {
    await control.stop();
  }
}
