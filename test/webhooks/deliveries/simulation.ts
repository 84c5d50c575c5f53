// Simulation: a random history of reports, answers and power failures on the production code, with time of the test. What has to hold whatever
// happens is checked at its end.
import { Random } from '../../support/random.ts';
import { type Answer, DeliveriesUnderTest, TENANT } from './deliveries-under-test.ts';

const REPORTS = 12;
const SUBSCRIPTIONS_MAX = 4;
const STATUSES = ['DATASET_COMPUTED', 'SOLVING_ACTIVE', 'SOLVING_COMPLETED', 'SOLVING_FAILED'];
/** One of so many writes is one at which the power fails. */
const CRASH_EVERY = 40;
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
  const deliveries = new DeliveriesUnderTest();
  const names = Array.from({ length: 1 + random.below(SUBSCRIPTIONS_MAX) }, (_, at) => `s${at}`);
  for (const name of names)
    deliveries.subscriptions.add(name, undefined, {
      events: random.chance(30) ? ['dataset.*', 'webhook.failing'] : ['dataset.*'],
    });
  const failing = new Set(names.filter(() => random.chance(30)));
  deliveries.answer = ({ url }) =>
    answerOf(random, failing.has(URL.parse(url)!.hostname.split('.')[0]!));
  let crashes = 0;
  let mayCrash = true;
  deliveries.onWrite = () =>
    mayCrash && random.below(CRASH_EVERY) === 0 ? { crash: random.below(3) } : 'stored';
  await deliveries.start();
  /** Event ids that were answered. */
  const acknowledged = new Set<string>();
  const seqs = new Map<string, number>();
  for (let index = 0; index < REPORTS; index++) {
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
  return {
    complaints: await complaintsOf(deliveries, acknowledged),
    crashes,
    sent: deliveries.sent.length,
  };

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

function answerOf(random: Random, isFailing: boolean): Answer {
  const afterMs = random.chance(30) ? random.below(ATTEMPT_MS_MAX) : random.below(50);
  if (isFailing || random.chance(30))
    return random.chance(50)
      ? { status: 500, afterMs }
      : { error: 'timeout', afterMs: ATTEMPT_MS_MAX };
  return { status: 200, afterMs };
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
