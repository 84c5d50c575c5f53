// WebhookPromises: what must hold of the log of a tenant and of the requests that its receivers have got, whatever was killed in between.
import type { LogAttempt, LogEntry } from '@svc/client';
import type { Post } from './webhook-receivers.ts';

/** An event that was answered, and the subscriptions that it goes to. */
export interface AnsweredEvent {
  readonly eventId: string;
  readonly dataset: string;
  readonly seq: number;
  readonly subscriptions: readonly string[];
}

export interface WebhookHistory {
  readonly answered: readonly AnsweredEvent[];
  readonly entries: readonly LogEntry[];
  /** Requests by subscription. */
  readonly posts: ReadonlyMap<string, readonly Post[]>;
}

interface Notice {
  readonly id: string;
  readonly data: { readonly subscriptionId: string };
}

const ATTEMPTS_MAX = 11;
const PAUSE_MS = 10_000;
/** Five seconds of waiting for an answer, and the pause. */
const INTERRUPTED_MS = 15_000;

/** Returns what is broken. */
export function complaintsAbout({ answered, entries, posts }: WebhookHistory): string[] {
  const events = new Map(answered.map((event) => [event.eventId, event]));
  const ofDatasets = entries.filter(({ datasetId }) => datasetId !== null);
  const known = new Set(ofDatasets.map((entry) => `${entry.eventId} ${entry.subscriptionId}`));
  const wanted = new Set(
    answered.flatMap(({ eventId, subscriptions }) => subscriptions.map((id) => `${eventId} ${id}`)),
  );
  const all = new Map(entries.map((entry) => [entry.id, entry]));
  return [
    ...(events.size === answered.length ? [] : ['two events have one id']),
    ...(known.size === ofDatasets.length ? [] : ['an event has two deliveries to a subscription']),
    ...[...wanted.difference(known)].map((pair) => `${pair} is not in the log`),
    ...[...known.difference(wanted)].map((pair) => `${pair} is in the log, and nobody knows why`),
    ...entries.flatMap((entry) => complaintsOfAttempts(entry)),
    ...[...posts].flatMap(([subscription, got]) =>
      got.flatMap((post) => complaintsOfPost(post, subscription, all, events)),
    ),
    ...[...byDelivery(posts)].flatMap(([id, got]) => complaintsOfPosts(id, got)),
    ...noticeComplaints([...posts.values()].flat()),
  ];
}

/** Returns the deliveries of which a receiver has got more requests than the log has attempts for. */
export function unloggedPosts({ entries, posts }: WebhookHistory): string[] {
  const all = new Map(entries.map((entry) => [entry.id, entry]));
  return [...byDelivery(posts)]
    .filter(([id, got]) => {
      const attempts = all.get(id)?.attempts ?? [];
      // An attempt begins before its request is signed, and the next one is later.
      const matched = got.map(({ atMs }) =>
        attempts.findLastIndex(({ time }) => Date.parse(time) <= atMs),
      );
      return matched.includes(-1) || new Set(matched).size < matched.length;
    })
    .map(([id]) => id);
}

function byDelivery(posts: WebhookHistory['posts']): ReadonlyMap<string, readonly Post[]> {
  return Map.groupBy([...posts.values()].flat(), ({ deliveryId }) => deliveryId);
}

function complaintsOfAttempts({ id, outcome, attempts }: LogEntry): string[] {
  const isDelivered = attempts.some(({ status }) => status !== null && status < 300);
  const early = attempts.filter((attempt, at) => {
    const before = attempts[at - 1];
    return before !== undefined && Date.parse(attempt.time) < earliestAfter(before);
  });
  return [
    ...(attempts.length <= ATTEMPTS_MAX ? [] : [`${id} has ${attempts.length} attempts`]),
    ...(attempts.every(({ run, number }, at) => run === 1 && number === at + 1)
      ? []
      : [`${id} has gaps in the numbers of its attempts`]),
    ...early.map(({ number }) => `attempt ${number} of ${id} is early`),
    ...(isDelivered === (outcome === 'delivered') ? [] : [`${id} is ${outcome}`]),
    ...(outcome !== 'exhausted' || attempts.length === ATTEMPTS_MAX
      ? []
      : [`${id} is exhausted after ${attempts.length} attempts`]),
  ];
}

function earliestAfter({ time, durationMs }: LogAttempt): number {
  // A duration is rounded.
  const pauseMs = durationMs === null ? INTERRUPTED_MS : durationMs - 1 + PAUSE_MS;
  return Date.parse(time) + pauseMs;
}

function complaintsOfPost(
  { deliveryId, eventType, body, isVerified }: Post,
  subscription: string,
  entries: ReadonlyMap<string, LogEntry>,
  events: ReadonlyMap<string, AnsweredEvent>,
): string[] {
  const { id, type, data } = JSON.parse(body) as {
    readonly id: string;
    readonly type: string;
    readonly data: { readonly id: string; readonly seq: number };
  };
  const entry = entries.get(deliveryId);
  const event = events.get(id);
  const isWhole =
    isVerified &&
    type === eventType &&
    entry?.eventId === id &&
    entry.subscriptionId === subscription &&
    (type === 'webhook.failing' || (data.id === event?.dataset && data.seq === event.seq));
  return isWhole ? [] : [`a request of ${deliveryId} is not what was reported: ${body}`];
}

function complaintsOfPosts(id: string, posts: readonly Post[]): string[] {
  const early = posts.filter(({ atMs }, at) => at > 0 && atMs - posts[at - 1]!.atMs < PAUSE_MS);
  return [
    ...(new Set(posts.map(({ body }) => body)).size === 1 ? [] : [`${id} has several bodies`]),
    ...early.map(({ atMs }) => `${id} came early at ${atMs}`),
  ];
}

/** A history is shorter than two hours. */
function noticeComplaints(posts: readonly Post[]): string[] {
  const notices = posts
    .filter(({ eventType }) => eventType === 'webhook.failing')
    .map(({ body }) => JSON.parse(body) as Notice);
  return [...Map.groupBy(notices, ({ data }) => data.subscriptionId)]
    .filter(([, about]) => new Set(about.map(({ id }) => id)).size > 1)
    .map(([id]) => `there were several notices about ${id}`);
}
