// Simulation: a random history of reports, answers, lies of a name server and power failures on the production code, its sender included, with time of the test. What has to hold whatever
// happens is checked at its end.
import { Random } from '../../support/random.ts';
import { DeliveriesUnderTest, TENANT } from './deliveries-under-test.ts';
import { SimulatedReceivers, type Wire } from './simulated-receivers.ts';

/** Most histories are short, because most faults need few events; one of so many has more of everything. */
const LONG_EVERY = 10;
const SHORT = { reports: 6, subscriptions: 3 };
const LONG = { reports: 12, subscriptions: 4 };
const STATUSES = ['DATASET_COMPUTED', 'SOLVING_ACTIVE', 'SOLVING_COMPLETED', 'SOLVING_FAILED'];
/** One of so many writes is one at which the power fails. */
const CRASH_EVERY = 40;
/** One of so many answers of the name server is an address to which nothing may go. */
const LIE_EVERY = 15;
const PUBLIC = '93.184.215.14';
const BLOCKED = ['127.0.0.1', '10.0.0.1', '169.254.169.254'];
const SUCCESSES = [
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 X\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
];
const FAILURES = [
  'HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 307 X\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n',
  'no HTTP\r\n\r\n',
  `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`,
];
/** An attempt never takes longer. */
const ATTEMPT_MS_MAX = 5_000;
/** Time in which every run ends: eleven attempts, and as many interruptions. */
const SETTLED_MS = 400_000;

/** Resolves with the complaints of the history of a seed, and how much has happened in it. */
export async function simulated(seed: number): Promise<{
  readonly complaints: readonly string[];
  readonly crashes: number;
  readonly sent: number;
}> {
  const random = new Random(seed);
  const ends: (() => Promise<void>)[] = [];
  const deliveries = new DeliveriesUnderTest({}, (end) => void ends.push(end));
  const most = random.below(LONG_EVERY) === 0 ? LONG : SHORT;
  const names = Array.from({ length: 1 + random.below(most.subscriptions) }, (_, at) => `s${at}`);
  const reports = 1 + random.below(most.reports);
  for (const name of names)
    deliveries.subscriptions.add(name, undefined, {
      events: random.chance(30) ? ['dataset.*', 'webhook.failing'] : ['dataset.*'],
    });
  const failing = new Set(names.filter(() => random.chance(30)));
  const receivers = new SimulatedReceivers({
    clock: deliveries.clock,
    resolve: () => [random.below(LIE_EVERY) === 0 ? random.pick(BLOCKED) : PUBLIC],
    answer: ({ host, deliveryId, body }) => {
      const delivery = deliveries.underWay.get(deliveryId)!;
      const atMs = deliveries.clock.nowMs();
      deliveries.sent.push({ ...delivery, body: Buffer.from(body), atMs });
      return wireOf(random, failing.has(host.split('.')[0]!));
    },
  });
  deliveries.newSender = () => receivers.sender();
  let crashes = 0;
  let mayCrash = true;
  deliveries.onWrite = () =>
    mayCrash && random.below(CRASH_EVERY) === 0 ? { crash: random.below(3) } : 'stored';
  await deliveries.start();
  /** Event ids that were answered. */
  const acknowledged = new Set<string>();
  const seqs = new Map<string, number>();
  for (let index = 0; index < reports; index++) {
    const dataset = `d${random.below(4)}`;
    const seq = (seqs.get(dataset) ?? 0) + 1;
    seqs.set(dataset, seq);
    const report = { seq, status: random.pick(STATUSES) };
    for (let answer; answer === undefined;) {
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      answer = await deliveries.reportUntilCrash(dataset, report);
      if (answer?.eventId) acknowledged.add(answer.eventId);
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      if (answer === undefined) await restart();
    }
    // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
    await deliveries.clock.advance(random.below(20_000));
    // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
    if (deliveries.hasCrashed) await restart();
  }
  mayCrash = false;
  if (deliveries.hasCrashed) await restart();
  await deliveries.clock.advance(SETTLED_MS);
  const complaints = [
    ...(await complaintsOf(deliveries, acknowledged)),
    ...[...receivers.contacted]
      .filter((address) => address !== PUBLIC)
      .map((address) => `${address} was connected to`),
  ];
  await Promise.all(ends.map((end) => end()));
  return { complaints, crashes, sent: deliveries.sent.length };

  async function restart(): Promise<void> {
    crashes++;
    await deliveries.crash();
    const may = mayCrash;
    mayCrash = false;
    await deliveries.clock.advance(random.below(30_000));
    await deliveries.start();
    mayCrash = may;
  }
}

function wireOf(random: Random, isFailing: boolean): Wire {
  const afterMs = random.chance(30) ? random.below(ATTEMPT_MS_MAX) : random.below(50);
  const isReset = random.chance(20);
  if (!isFailing && random.chance(70)) return { bytes: random.pick(SUCCESSES), afterMs, isReset };
  return random.chance(50)
    ? { bytes: random.pick(FAILURES), afterMs, isReset }
    : { afterMs, isReset };
}

async function complaintsOf(
  deliveries: DeliveriesUnderTest,
  acknowledged: ReadonlySet<string>,
): Promise<string[]> {
  const complaints: string[] = [];
  const page = await deliveries.now.log.list(TENANT, { limit: 250 });
  if (!page.isOk) return [page.message];
  const { entries } = page.value;
  const { size } = deliveries.subscriptions.all;
  for (const eventId of acknowledged) {
    const count = entries.filter((entry) => entry.eventId === eventId).length;
    if (count !== size) complaints.push(`event ${eventId} has ${count} deliveries of ${size}`);
  }
  const sent = Map.groupBy(deliveries.sent, ({ deliveryId }) => deliveryId);
  for (const { id, outcome, attempts } of entries) {
    const requests = sent.get(id) ?? [];
    if (outcome === 'pending') complaints.push(`${id} is still pending`);
    if (attempts.length > 11) complaints.push(`${id} has ${attempts.length} attempts`);
    if (attempts.some(({ number }, at) => number !== at + 1))
      complaints.push(`${id} has the attempts ${attempts.map(({ number }) => number).join(' ')}`);
    if (requests.length > attempts.length)
      complaints.push(
        `${id} was sent ${requests.length} times, and has ${attempts.length} attempts`,
      );
    if (new Set(requests.map(({ body }) => String(body))).size > 1)
      complaints.push(`${id} was sent with several bodies`);
    for (const [at, { atMs }] of requests.entries()) {
      const before = requests[at - 1];
      if (before !== undefined && atMs - before.atMs < 10_000)
        complaints.push(`${id} was sent again after ${atMs - before.atMs} ms`);
    }
    if (outcome === 'exhausted' && attempts.length !== 11)
      complaints.push(`${id} is exhausted after ${attempts.length} attempts`);
  }
  for (const id of sent.keys())
    if (!entries.some((entry) => entry.id === id))
      complaints.push(`${id} was sent and is not in the log`);
  const notices = new Set(
    entries
      .filter(({ eventType }) => eventType === 'webhook.failing')
      .map(({ eventId }) => eventId),
  );
  if (notices.size > 1) complaints.push(`there were ${notices.size} notices in two hours`);
  return complaints;
}
