// Measurements (ca) to (cd): `svc webhook-service` as a process, with its journals on disk, and receivers over HTTP on loopback.
import { setTimeout as pause } from 'node:timers/promises';
import { oneCoreForServer, working } from '../cores.ts';
import { processorUs } from '../processor-time.ts';
import { median, percentile, type Measurement, type Pace } from '../report.ts';
import { residentMib } from '../memory.ts';
import { measurePages } from './log-pages.ts';
import { MeasuredWebhooks } from './measured-webhooks.ts';

const TENANTS = 10;
const SUBSCRIPTIONS = 10;
const STALLED_OF_A_TENANT = 100;
/** As many deliveries are pending for each that stalls as it may have attempts in progress. */
const REPORTS_TO_STALLED = 2;
const TRIAL_STALLED = 5;
const DELIVERIES_PER_SECOND = 1_000;
const REPORTS_PER_SECOND = DELIVERIES_PER_SECOND / SUBSCRIPTIONS;
/** Reports of one tenant a second, for the rows of one delivery. */
const CALM_PER_SECOND = 20;
const PENDING = 100_000;
/** Entries of the log over which pages are measured. */
const ENTRIES = 1_000_000;
const IN_FLIGHT = 16;
const PAGES = 200;
const TRIAL_PAGES = 2;
/** Longer than the scheduler's pause between two looks at what is pending. */
const SETTLE_MS = 12_000;
const TRIAL_SETTLE_MS = 500;
const LOOK_MS = 200;

const CORES = 'one the service with its journals; load and receivers another';

export async function measureWebhooks(
  wanted: ReadonlySet<string>,
  pace: Pace,
): Promise<Measurement[]> {
  const placement = oneCoreForServer();
  const [server, load] =
    placement.kind === 'pinned' ? [placement.server, placement.load] : [undefined, undefined];
  const cores = placement.kind === 'pinned' ? CORES : `any: ${placement.reason}`;
  return await working(load, async () => {
    const measurements: Measurement[] = [];
    if (wanted.has('ca')) measurements.push(await measureStalled(server, cores, pace));
    if (['cb', 'cc', 'cd'].some((letter) => wanted.has(letter)))
      measurements.push(...(await measureBacklog(wanted, server, cores, pace)));
    return measurements;
  });
}

/** Deliveries of ten tenants, without and then beside receivers that never answer. */
async function measureStalled(
  server: string | undefined,
  cores: string,
  { rounds, seconds, warmUpSeconds }: Pace,
): Promise<Measurement> {
  const isTrial = warmUpSeconds === 0;
  const webhooks = await MeasuredWebhooks.open(server);
  try {
    const arrivals = new Arrivals();
    const urls = await webhooks.receivers(TENANTS * SUBSCRIPTIONS, 1, (id) => arrivals.add(id));
    const tenants = Array.from({ length: TENANTS }, (_, index) => `t${index}`);
    for (const [index, tenant] of tenants.entries())
      // oxlint-disable-next-line no-await-in-loop -- before anything is measured
      await webhooks.subscribe(
        tenant,
        urls.slice(index * SUBSCRIPTIONS, (index + 1) * SUBSCRIPTIONS),
      );
    const run = async (): Promise<Delivered> =>
      await delivered(webhooks, arrivals, tenants, { perSecond: REPORTS_PER_SECOND, seconds });
    await run();
    const alone: Delivered[] = [];
    for (let round = 0; round < rounds; round++) alone.push(await run());
    const stalled = isTrial ? TRIAL_STALLED : STALLED_OF_A_TENANT;
    await stall(webhooks, stalled, isTrial ? TRIAL_SETTLE_MS : SETTLE_MS);
    const beside: Delivered[] = [];
    for (let round = 0; round < rounds; round++) beside.push(await run());
    const [svc, other] = [median(beside.map(p99Of)), median(alone.map(p99Of))];
    const core = (all: readonly Delivered[]) => median(all.map((each) => each.core)).toFixed(2);
    return {
      letter: 'ca',
      what: `webhooks: ${DELIVERIES_PER_SECOND} deliveries a second to ${urls.length} receivers beside ${stalled * TENANTS} that accept and never answer, from the answer to a report until its delivery arrives, 99th percentile`,
      svc,
      beside: `of a core: ${core(beside)}, and ${core(alone)} without; the same without stalled ones`,
      other,
      unit: 'ms',
      ratio: svc / other,
      cores,
    };
  } finally {
    await webhooks.close();
  }
}

/** Gives tenants receivers that never answer, and lets their attempts begin. */
async function stall(webhooks: MeasuredWebhooks, tenants: number, settleMs: number): Promise<void> {
  for (let index = 0; index < tenants; index++) {
    const tenant = `stalled${index}`;
    // oxlint-disable-next-line no-await-in-loop -- before anything is measured
    const stalled = await webhooks.receivers(STALLED_OF_A_TENANT, 2 + index, undefined);
    // oxlint-disable-next-line no-await-in-loop -- before anything is measured
    await webhooks.subscribe(tenant, stalled);
    // oxlint-disable-next-line no-await-in-loop -- as above
    for (let count = 0; count < REPORTS_TO_STALLED; count++) await webhooks.report(tenant);
  }
  await pause(settleMs);
}

/** One tenant has deliveries pending that nobody takes. */
async function measureBacklog(
  wanted: ReadonlySet<string>,
  server: string | undefined,
  cores: string,
  { seconds, rounds, warmUpSeconds }: Pace,
): Promise<Measurement[]> {
  const isTrial = warmUpSeconds === 0;
  const stalled = isTrial ? TRIAL_STALLED : STALLED_OF_A_TENANT;
  const pending = isTrial ? 20 * TRIAL_STALLED : PENDING;
  const settleMs = isTrial ? TRIAL_SETTLE_MS : SETTLE_MS;
  const webhooks = await MeasuredWebhooks.open(server);
  const measurements: Measurement[] = [];
  try {
    await pause(settleMs / 2);
    const emptyMib = residentMib(webhooks.pid).now;
    await webhooks.subscribe('busy', await webhooks.receivers(stalled, 2, undefined));
    await fill(webhooks, pending / stalled);
    await pause(settleMs);
    const arrivals = new Arrivals();
    const [url] = await webhooks.receivers(1, 1, (id) => arrivals.add(id));
    await webhooks.subscribe('calm', [url!]);
    const pace = { perSecond: CALM_PER_SECOND, seconds };
    await delivered(webhooks, arrivals, ['calm'], pace);
    if (wanted.has('cb')) {
      const runs: Delivered[] = [];
      for (let round = 0; round < rounds; round++)
        runs.push(await delivered(webhooks, arrivals, ['calm'], pace));
      measurements.push({
        letter: 'cb',
        what: `webhooks: the first attempt for another tenant beside ${pending} pending deliveries, from the answer to a report, 99th percentile`,
        svc: median(runs.map(p99Of)),
        beside: 'the aim: 50 ms',
        other: undefined,
        unit: 'ms',
        ratio: undefined,
        cores,
      });
    }
    const start = wanted.has('cd')
      ? await measureStart(webhooks, arrivals, { pending, settleMs, emptyMib, cores })
      : undefined;
    if (wanted.has('cc')) {
      const entries = isTrial ? 2 * pending : ENTRIES;
      await fill(webhooks, (entries - pending) / stalled);
      const pages = isTrial ? TRIAL_PAGES : PAGES;
      measurements.push(
        await measurePages(webhooks, { tenantId: 'busy', entries, pages, settleMs, cores }),
      );
    }
    if (start !== undefined) measurements.push(start);
    return measurements;
  } finally {
    await webhooks.close();
  }
}

interface MeasuredStart {
  readonly pending: number;
  readonly settleMs: number;
  /** Memory of the service before it had deliveries. */
  readonly emptyMib: number;
  readonly cores: string;
}

/** Stops the process and starts it again, with deliveries that are pending. */
async function measureStart(
  webhooks: MeasuredWebhooks,
  arrivals: Arrivals,
  { pending, settleMs, emptyMib, cores }: MeasuredStart,
): Promise<Measurement> {
  await webhooks.stop();
  const startedMs = performance.now();
  await webhooks.start();
  const { eventId, atMs } = await webhooks.report('calm');
  const firstMs = (await arrivals.of(eventId)) - startedMs;
  await pause(settleMs);
  return {
    letter: 'cd',
    what: `webhooks: from the start of the process with ${pending} pending deliveries until the first delivery of another tenant arrives`,
    svc: firstMs,
    beside: `answering after ${(atMs - startedMs).toFixed(0)} ms; ${(residentMib(webhooks.pid).now - emptyMib).toFixed(0)} MiB more than an empty one`,
    other: undefined,
    unit: 'ms',
    ratio: undefined,
    cores,
  };
}

/** Reports datasets, and resolves once the log has the deliveries of the last one: the fan-out is behind the answers. */
async function fill(webhooks: MeasuredWebhooks, reports: number): Promise<void> {
  let left = reports;
  let last: string | undefined;
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) last = (await webhooks.report('busy')).eventId;
    }),
  );
  if (last === undefined) return;
  const client = await webhooks.clientOf('busy');
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- until the last one is there
    const { entries } = await client.listDeliveries({ tenantId: 'busy', eventId: last, limit: 1 });
    if (entries.length > 0) return;
    // oxlint-disable-next-line no-await-in-loop -- as above
    await pause(LOOK_MS);
  }
}

interface Delivered {
  readonly tookMs: readonly number[];
  /** Processor time of the service, as a part of a core. */
  readonly core: number;
}

const p99Of = ({ tookMs }: Delivered): number => percentile(tookMs, 0.99);

/** Reports at an even rate, by the tenants in turns, and waits until everything has arrived. */
async function delivered(
  webhooks: MeasuredWebhooks,
  arrivals: Arrivals,
  tenants: readonly string[],
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Delivered> {
  const reports = Math.max(1, Math.round(perSecond * seconds));
  const beganMs = performance.now();
  const beganUs = processorUs(webhooks.pid);
  const all: Promise<readonly number[]>[] = [];
  for (let count = 0; count < reports; count++) {
    const dueMs = beganMs + (count * 1_000) / perSecond;
    // oxlint-disable-next-line no-await-in-loop -- at an even rate
    await pause(Math.max(dueMs - performance.now(), 0));
    all.push(
      webhooks.report(tenants[count % tenants.length]!).then(async ({ eventId, atMs }) => {
        const arrivedMs = await arrivals.all(eventId, tenants.length > 1 ? SUBSCRIPTIONS : 1);
        return arrivedMs.map((each) => Math.max(each - atMs, 0));
      }),
    );
  }
  const tookMs = (await Promise.all(all)).flat();
  const core = (processorUs(webhooks.pid) - beganUs) / 1_000 / (performance.now() - beganMs);
  return { tookMs, core };
}

/** When the deliveries of events have arrived. An event can be there before it is asked for. */
class Arrivals {
  readonly #byEvent = new Map<string, number[]>();
  readonly #waiting = new Map<string, () => void>();

  add(eventId: string): void {
    const known = this.#byEvent.get(eventId);
    if (known === undefined) this.#byEvent.set(eventId, [performance.now()]);
    else known.push(performance.now());
    this.#waiting.get(eventId)?.();
  }

  async all(eventId: string, count: number): Promise<readonly number[]> {
    while ((this.#byEvent.get(eventId)?.length ?? 0) < count)
      // oxlint-disable-next-line no-await-in-loop -- until the last one is there
      await new Promise<void>((resolve) => this.#waiting.set(eventId, resolve));
    this.#waiting.delete(eventId);
    const arrived = this.#byEvent.get(eventId)!;
    this.#byEvent.delete(eventId);
    return arrived;
  }

  async of(eventId: string): Promise<number> {
    return (await this.all(eventId, 1))[0]!;
  }
}
