// Simulation: a random history of reports, changes of subscriptions, answers, lies of a name server and power failures on the production code, its sender and
// the journal of subscriptions included, with time of the test. simulation-complaints.ts checks at its end what has to hold whatever happens.
//
// Invariant: a seed makes the same choices each time. Ids of subscriptions and secrets are random, and nothing but the order of equal deliveries depends on them.
import type { LogEntry } from '@svc/client';
import type { WriteOutcome } from '@svc/host/testing';
import { Random } from '../../support/random.ts';
import { reported } from '../reported-dataset.ts';
import { DeliveriesUnderTest, TENANT } from './deliveries-under-test.ts';
import { SimulatedReceivers, type Wire } from './simulated-receivers.ts';
import { type KnownSubscription, SimulatedTenant } from './simulated-tenant.ts';
import { type AnsweredEvent, complaintsOf } from './simulation-complaints.ts';

/** Most histories are short, because most faults need few events; one of so many has more of everything. */
const LONG_EVERY = 10;
const SHORT = { steps: 6, subscriptions: 3 };
const LONG = { steps: 14, subscriptions: 4 };
const SUBSCRIPTIONS_MAX = 5;
/** Kinds of receivers: `healthy` ones always answer at once, `failing` ones never well, and the others as it happens. */
const ROLES = ['healthy', 'failing', 'moody'] as const;
/** So few that receivers without an answer would delay others, if these had to wait for them. All that are new at the same time fit. */
const LIMITS = {
  subscriptionMax: 3,
  silentSubscriptionMax: 1,
  hostMax: 3,
  tenantMax: 3 * SUBSCRIPTIONS_MAX,
  silentTenantMax: 2,
  newTenantMax: SUBSCRIPTIONS_MAX,
  allMax: 3 * SUBSCRIPTIONS_MAX,
  silentMax: 2,
  newMax: SUBSCRIPTIONS_MAX,
};
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
/** A healthy receiver answers within this time. */
const QUICK_MS = 50;
/** Time in which every run ends, although receivers without an answer have few attempts at the same time. It is looked at in steps. */
const SETTLED_MS = 4_000_000;
const SETTLING_MS = 60_000;
/** Entries of a page of the log, which has all of a history. */
const LOG_MAX = 250;
/** So many of a hundred steps are reports; the others change subscriptions. */
const REPORT_PERCENT = 70;

/** Resolves with the complaints of the history of a seed, and how much has happened in it. */
export async function simulated(seed: number): Promise<{
  readonly complaints: readonly string[];
  readonly crashes: number;
  readonly sent: number;
}> {
  const history = new History(seed);
  await history.play();
  const complaints = await history.complaints();
  await history.end();
  return { complaints, crashes: history.crashes, sent: history.sent };
}

class History {
  crashes = 0;
  readonly #random: Random;
  readonly #deliveries: DeliveriesUnderTest;
  readonly #tenant: SimulatedTenant;
  readonly #receivers: SimulatedReceivers;
  readonly #ends: (() => Promise<void>)[] = [];
  readonly #events: AnsweredEvent[] = [];
  readonly #startsMs: number[] = [];
  /** By dataset. */
  readonly #seqs = new Map<string, number>();
  #mayCrash = false;

  constructor(seed: number) {
    const random = new Random(seed);
    const deliveries = new DeliveriesUnderTest(LIMITS, (end) => void this.#ends.push(end));
    const { clock } = deliveries;
    const onWrite = (): WriteOutcome =>
      this.#mayCrash && random.below(CRASH_EVERY) === 0 ? { crash: random.below(3) } : 'stored';
    this.#random = random;
    this.#deliveries = deliveries;
    this.#tenant = new SimulatedTenant(TENANT, clock, { onWrite });
    this.#receivers = new SimulatedReceivers({
      clock,
      resolve: (host) => [
        !isHealthy(host) && random.below(LIE_EVERY) === 0 ? random.pick(BLOCKED) : PUBLIC,
      ],
      answer: ({ host, deliveryId, body }) => {
        const delivery = deliveries.underWay.get(deliveryId)!;
        deliveries.sent.push({ ...delivery, body: Buffer.from(body), atMs: clock.nowMs() });
        return wireOf(random, host);
      },
    });
    deliveries.onWrite = onWrite;
    deliveries.tenant = this.#tenant;
    deliveries.newSender = () => this.#receivers.sender();
  }

  /** Number of requests that receivers have got. */
  get sent(): number {
    return this.#deliveries.sent.length;
  }

  async play(): Promise<void> {
    const random = this.#random;
    const most = random.below(LONG_EVERY) === 0 ? LONG : SHORT;
    const steps = 1 + random.below(most.steps);
    await this.#start();
    for (let left = 1 + random.below(most.subscriptions); left > 0; left--)
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      await this.#create();
    this.#mayCrash = true;
    for (let step = 0; step < steps; step++) {
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      await (random.chance(REPORT_PERCENT) ? this.#report() : this.#change());
      const isSoon = random.chance(50);
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      await this.#deliveries.clock.advance(random.below(isSoon ? 100 : 20_000));
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      if (this.#deliveries.hasCrashed) await this.#restart();
    }
    this.#mayCrash = false;
    if (this.#deliveries.hasCrashed) await this.#restart();
  }

  /** Resolves with what does not hold, once everything has ended. */
  async complaints(): Promise<readonly string[]> {
    const entries = await this.#settled();
    const { known: subscriptions } = this.#tenant;
    return [
      ...complaintsOf({
        entries,
        events: this.#events,
        subscriptions,
        sent: this.#deliveries.sent,
        notices: await this.#notices(entries),
        healthy: new Set(subscriptions.filter(isOfHealthy).map(({ id }) => id)),
        startsMs: this.#startsMs,
      }),
      ...[...this.#receivers.contacted]
        .filter((address) => address !== PUBLIC)
        .map((address) => `${address} was connected to`),
    ];
  }

  async end(): Promise<void> {
    await Promise.all(this.#ends.map((end) => end()));
  }

  async #start(): Promise<void> {
    await this.#deliveries.start();
    this.#startsMs.push(this.#deliveries.clock.nowMs());
  }

  async #restart(): Promise<void> {
    this.crashes++;
    await this.#deliveries.crash();
    const mayCrash = this.#mayCrash;
    this.#mayCrash = false;
    await this.#deliveries.clock.advance(this.#random.below(30_000));
    await this.#start();
    this.#mayCrash = mayCrash;
  }

  /** Makes a request again after each crash until it is answered. */
  readonly #untilAnswered = async <Value>(request: () => Promise<Value>): Promise<Value> => {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      const answer = await this.#deliveries.untilCrash(request);
      if (answer !== undefined) return answer;
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      await this.#restart();
    }
  };

  async #report(): Promise<void> {
    const random = this.#random;
    const dataset = `d${random.below(4)}`;
    const seq = (this.#seqs.get(dataset) ?? 0) + 1;
    this.#seqs.set(dataset, seq);
    const content = reported({ seq, status: random.pick(STATUSES) });
    const requestedMs = this.#deliveries.clock.nowMs();
    const answer = await this.#untilAnswered(() =>
      this.#deliveries.now.intake.report(TENANT, dataset, content),
    );
    if (!answer.isOk) throw new Error(`a report was refused: ${answer.message}`);
    const { eventId } = answer.value;
    if (eventId !== null) this.#events.push({ id: eventId, requestedMs });
  }

  async #create(): Promise<void> {
    const random = this.#random;
    const number = this.#tenant.known.length;
    const url = `http://${random.pick(ROLES)}${number}.example/hook`;
    const listens = random.chance(30);
    const events = listens ? ['dataset.*', 'webhook.failing'] : ['dataset.*'];
    await this.#tenant.create({ url, events }, this.#untilAnswered);
  }

  /** Creates, moves, rotates or deletes a subscription. */
  async #change(): Promise<void> {
    const tenant = this.#tenant;
    const kind = this.#random.below(4);
    const { present } = tenant;
    if (kind === 0 || present.length === 0) {
      if (tenant.known.length < SUBSCRIPTIONS_MAX) await this.#create();
      return;
    }
    const one = this.#random.pick(present);
    if (kind === 1) await tenant.rotate(one, this.#untilAnswered);
    else if (kind === 2) await tenant.remove(one, this.#untilAnswered);
    else await tenant.move(one, this.#untilAnswered);
  }

  /** Resolves with the log once nothing is pending any more, or after a long time. */
  async #settled(): Promise<readonly LogEntry[]> {
    const { clock, now } = this.#deliveries;
    for (let leftMs = SETTLED_MS; ; leftMs -= SETTLING_MS) {
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      await clock.advance(SETTLING_MS);
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      const page = await now.log.list(TENANT, { limit: LOG_MAX });
      if (!page.isOk) throw new Error(page.message);
      const { entries, cursor } = page.value;
      if (cursor !== undefined) throw new Error('the log has more entries than a page');
      if (leftMs <= 0 || entries.every(({ outcome }) => outcome !== 'pending')) return entries;
    }
  }

  /** Resolves with the subscription that each notice is about, by the id of its event. */
  async #notices(entries: readonly LogEntry[]): Promise<ReadonlyMap<string, string>> {
    const notices = new Map<string, string>();
    for (const { id, eventId, eventType } of entries) {
      if (eventType !== 'webhook.failing' || notices.has(eventId)) continue;
      // oxlint-disable-next-line no-await-in-loop -- one thing happens after the other
      const entry = await this.#deliveries.now.log.entry(TENANT, id);
      if (!entry.isOk) throw new Error(entry.message);
      const { data } = JSON.parse(entry.value.body) as { data: { subscriptionId: string } };
      notices.set(eventId, data.subscriptionId);
    }
    return notices;
  }
}

function isHealthy(host: string): boolean {
  return host.startsWith('healthy');
}

function isOfHealthy({ versions: [first] }: KnownSubscription): boolean {
  return isHealthy(new URL(first!.url).hostname);
}

function wireOf(random: Random, host: string): Wire {
  if (isHealthy(host))
    return { bytes: random.pick(SUCCESSES), afterMs: random.below(QUICK_MS), isReset: false };
  const isFailing = host.startsWith('failing');
  const afterMs = random.chance(30) ? random.below(ATTEMPT_MS_MAX) : random.below(QUICK_MS);
  const isReset = random.chance(20);
  if (!isFailing && random.chance(70)) return { bytes: random.pick(SUCCESSES), afterMs, isReset };
  return random.chance(50)
    ? { bytes: random.pick(FAILURES), afterMs, isReset }
    : { afterMs, isReset };
}
