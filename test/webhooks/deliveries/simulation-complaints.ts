// SimulationComplaints: what has to hold at the end of a random history, whatever has happened in it. Each function returns what does not hold.
import type { LogEntry } from '@svc/client';
import type { SentRequest } from './deliveries-under-test.ts';
import type { KnownSubscription, Version } from './simulated-tenant.ts';

/** A report that was answered with an event. */
export interface AnsweredEvent {
  readonly id: string;
  /** When it was reported first. */
  readonly requestedMs: number;
}

/** What is known of a history at its end. */
export interface Ended {
  readonly entries: readonly LogEntry[];
  readonly events: readonly AnsweredEvent[];
  readonly subscriptions: readonly KnownSubscription[];
  readonly sent: readonly SentRequest[];
  /** Subscription that each notice is about, by the id of its event. */
  readonly notices: ReadonlyMap<string, string>;
  /** Ids of the subscriptions whose receivers always answer at once. */
  readonly healthy: ReadonlySet<string>;
  /** Times at which the service was started, in their order. */
  readonly startsMs: readonly number[];
}

const ATTEMPTS_MAX = 11;
const SPACING_MS = 10_000;
/**
 * Time after its event, or after the start that followed, within which the first attempt of a delivery to a healthy receiver begins. Until the first
 * answer of a receiver is known it gets one request at a time, so a delivery waits for a few answers of 50 ms. Waiting for one attempt to another receiver
 * that does not answer would take five seconds.
 */
const FIRST_ATTEMPT_MS = 1_500;
/** A start may find a delivery only when it looks at its view again. */
const LOOK_MS = 10_000;

export function complaintsOf(ended: Ended): readonly string[] {
  return [
    ...aboutFanOut(ended),
    ...aboutAttempts(ended),
    ...aboutRequests(ended),
    ...aboutNotices(ended),
    ...aboutDelays(ended),
  ];
}

function aboutFanOut({ events, entries, subscriptions }: Ended): string[] {
  const complaints: string[] = [];
  const known = new Map(subscriptions.map((one) => [one.id, one]));
  for (const { id, requestedMs } of events) {
    const ofEvent = entries.filter(({ eventId }) => eventId === id);
    const [first] = ofEvent;
    for (const { id: subscription, createdAtMs, deletion } of subscriptions) {
      const count = ofEvent.filter(({ subscriptionId }) => subscriptionId === subscription).length;
      const has = `event ${id} has ${count} deliveries for ${subscription}`;
      if (count > 1) complaints.push(has);
      if (deletion !== undefined && deletion.answeredMs < requestedMs && count > 0)
        complaints.push(`${has}, which was deleted before`);
      // An event is there from its report on at the earliest.
      if (deletion === undefined && createdAtMs <= requestedMs && count === 0) complaints.push(has);
      if (first !== undefined && createdAtMs > Date.parse(first.occurredAt) && count > 0)
        complaints.push(`${has}, which was created later`);
    }
  }
  for (const { id, subscriptionId } of entries)
    if (!known.has(subscriptionId)) complaints.push(`${id} is for no subscription`);
  return complaints;
}

function aboutAttempts({ entries, subscriptions }: Ended): string[] {
  const complaints: string[] = [];
  const deletions = new Map(subscriptions.map(({ id, deletion }) => [id, deletion]));
  for (const { id, subscriptionId, outcome, error, attempts } of entries) {
    if (outcome === 'pending') complaints.push(`${id} is still pending`);
    if (attempts.length > ATTEMPTS_MAX) complaints.push(`${id} has ${attempts.length} attempts`);
    if (attempts.some(({ number }, at) => number !== at + 1))
      complaints.push(`${id} has the attempts ${attempts.map(({ number }) => number).join(' ')}`);
    for (const [at, { time }] of attempts.entries()) {
      const before = attempts[at - 1];
      if (before !== undefined && Date.parse(time) - Date.parse(before.time) < SPACING_MS)
        complaints.push(`${id} has attempts at ${before.time} and ${time}`);
    }
    if (outcome !== 'exhausted') continue;
    const isDeleted = deletions.get(subscriptionId) !== undefined;
    if (attempts.length < ATTEMPTS_MAX && !(isDeleted && error === 'subscription_deleted'))
      complaints.push(`${id} is exhausted after ${attempts.length} attempts with ${error}`);
    if (error === 'subscription_deleted' && !isDeleted)
      complaints.push(`${id} ended as if ${subscriptionId} was deleted`);
  }
  return complaints;
}

function aboutRequests({ entries, sent, subscriptions }: Ended): string[] {
  const complaints: string[] = [];
  const known = new Map(subscriptions.map((one) => [one.id, one]));
  const logged = new Map(entries.map((entry) => [entry.id, entry]));
  for (const [id, requests] of Map.groupBy(sent, ({ deliveryId }) => deliveryId)) {
    const entry = logged.get(id);
    if (entry === undefined) {
      complaints.push(`${id} was sent and is not in the log`);
      continue;
    }
    const { attempts, subscriptionId } = entry;
    if (requests.length > attempts.length)
      complaints.push(
        `${id} was sent ${requests.length} times, and has ${attempts.length} attempts`,
      );
    if (new Set(requests.map(({ body }) => String(body))).size > 1)
      complaints.push(`${id} was sent with several bodies`);
    for (const [at, request] of requests.entries()) {
      const { atMs } = request;
      const before = requests[at - 1];
      if (before !== undefined && atMs - before.atMs < SPACING_MS)
        complaints.push(`${id} was sent again after ${atMs - before.atMs} ms`);
      const { versions, deletion } = known.get(subscriptionId)!;
      if (!versions.some((_, version) => isSentAs(request, versions, version)))
        complaints.push(`${id} was sent as no version of ${subscriptionId} was at ${atMs}`);
      if (deletion !== undefined && atMs > deletion.answeredMs)
        complaints.push(`${id} was sent ${atMs - deletion.answeredMs} ms after the deletion`);
    }
  }
  return complaints;
}

/** Whether a request was sent as a version of its subscription, and that may have been the present one. */
function isSentAs(request: SentRequest, versions: readonly Version[], at: number): boolean {
  const { url, secret, previousSecret, requestedMs } = versions[at]!;
  const { answeredMs: endedMs = Infinity } = versions[at + 1] ?? {};
  return (
    requestedMs <= request.atMs &&
    request.atMs <= endedMs &&
    request.url === url &&
    request.secret === secret &&
    request.previousSecret === previousSecret
  );
}

function aboutNotices({ entries, subscriptions, notices }: Ended): string[] {
  const complaints: string[] = [];
  const about = Map.groupBy(notices.values(), (subscription) => subscription);
  for (const [subscription, { length }] of about)
    if (length > 1) complaints.push(`${length} notices about ${subscription} in two hours`);
  for (const { eventId, subscriptionId } of entries)
    if (notices.get(eventId) === subscriptionId)
      complaints.push(`${subscriptionId} got a notice about itself`);
  const present = subscriptions.filter(({ deletion }) => deletion === undefined);
  const listeners = subscriptions.filter(({ events }) => events.includes('webhook.failing'));
  // A notice that was granted for one that was deleted then has no deliveries.
  if (listeners.some(({ deletion }) => deletion !== undefined)) return complaints;
  for (const { id } of present) {
    const exhausted = entries.filter(
      ({ subscriptionId, outcome, error, eventType }) =>
        subscriptionId === id &&
        outcome === 'exhausted' &&
        error === null &&
        eventType !== 'webhook.failing',
    );
    const isNoticed = listeners.some(
      (listener) =>
        listener.id !== id &&
        exhausted.some(({ attempts }) => listener.createdAtMs <= Date.parse(attempts.at(-1)!.time)),
    );
    if (isNoticed && !about.has(id)) complaints.push(`no notice says that ${id} fails`);
  }
  return complaints;
}

function aboutDelays({ entries, healthy, startsMs }: Ended): string[] {
  const complaints: string[] = [];
  for (const { id, subscriptionId, occurredAt, attempts } of entries) {
    const [first] = attempts;
    if (!healthy.has(subscriptionId) || first === undefined) continue;
    const firstMs = Date.parse(first.time);
    const occurredMs = Date.parse(occurredAt);
    const startMs = startsMs.findLast((eachMs) => eachMs <= firstMs)!;
    const delayMs = firstMs - Math.max(occurredMs, startMs);
    const hasStarted = startMs > occurredMs;
    if (delayMs > FIRST_ATTEMPT_MS + (hasStarted ? LOOK_MS : 0))
      complaints.push(`${id} to a healthy receiver began after ${delayMs} ms`);
  }
  return complaints;
}
