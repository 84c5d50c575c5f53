// WebhookWords: the words of the webhook service, explained for people. The functions are pure.
import type { DatasetStatus, LogEntry, Subscription, SubscribableEvent } from '@svc/client';
import { durationText, spanText } from './number-text.ts';
import { visibleLine } from './visible-text.ts';

/** Types of events, in the order of the form. */
export const EVENT_WORDS: Readonly<Record<SubscribableEvent, string>> = {
  'dataset.*': 'every event of a dataset',
  'dataset.computed': 'a dataset was computed',
  'dataset.invalid': 'a dataset is invalid',
  'dataset.completed': 'solving is complete',
  'dataset.incomplete': 'solving ended early',
  'dataset.failed': 'solving failed',
  'webhook.failing': 'a delivery to another subscription is exhausted',
};

export const STATUS_EVENTS: Readonly<Record<DatasetStatus, SubscribableEvent>> = {
  DATASET_COMPUTED: 'dataset.computed',
  DATASET_INVALID: 'dataset.invalid',
  SOLVING_COMPLETED: 'dataset.completed',
  SOLVING_INCOMPLETE: 'dataset.incomplete',
  SOLVING_FAILED: 'dataset.failed',
};

/** Grace periods that the user can choose, in seconds; the default is that of the webhook service. */
export const GRACE_PERIODS: readonly (readonly [seconds: number, text: string])[] = [
  [0, 'at once'],
  [3_600, 'after an hour'],
  [86_400, 'after a day'],
  [259_200, 'after 3 days'],
  [604_800, 'after 7 days'],
];
export const GRACE_PERIOD_DEFAULT = 86_400;

const ATTEMPT_ERRORS: Readonly<Record<string, string>> = {
  timeout: 'no answer within five seconds',
  dns: 'the host name has no address, or its name server did not answer',
  connect_refused: 'nothing listens there',
  connection_reset: 'the connection was closed before the answer',
  tls: 'the certificate or the TLS version is not good',
  blocked_address: 'nothing is delivered to this address or port',
  redirect: 'the receiver redirects, which is not followed',
  protocol: 'the answer is not HTTP, or its head is too large',
  interrupted: 'the end is not known: the receiver may have got it',
};
const DELIVERY_ERRORS: Readonly<Record<string, string>> = {
  subscription_deleted: 'Its subscription was deleted before it was delivered.',
  expired: 'It was not delivered before its time in the log ended.',
  backlog_full: 'Too many deliveries of the subscription were pending. Retry it.',
};

/** Returns what an error of an attempt means; the word itself if it is unknown here. */
export function attemptErrorText(error: string): string {
  return Object.hasOwn(ATTEMPT_ERRORS, error) ? ATTEMPT_ERRORS[error]! : visibleLine(error);
}

export function deliveryErrorText(error: string): string {
  return Object.hasOwn(DELIVERY_ERRORS, error)
    ? DELIVERY_ERRORS[error]!
    : `It ended without its receiver: ${visibleLine(error)}.`;
}

/** Returns the filters of a subscription as lines: 'model is routing'. */
export function filterTexts({ filters }: Pick<Subscription, 'filters'>): string[] {
  const { status, model, tags = [], nameRegex } = filters;
  return [
    ...(status === undefined ? [] : [`status is ${status}`]),
    ...(model === undefined ? [] : [`model is ${model}`]),
    ...tags.map((tag) => `has the tag ${tag}`),
    ...(nameRegex === undefined ? [] : [`name has ${nameRegex}`]),
  ].map(visibleLine);
}

/** Returns how the last attempt ended: '503', 'timeout'; '–' if none has ended. */
export function lastAttemptText({ attempts }: Pick<LogEntry, 'attempts'>): string {
  const last = attempts.at(-1);
  if (last === undefined) return '–';
  return visibleLine(last.error ?? String(last.status ?? '–'));
}

export function attemptDurationText(durationMs: number | null): string {
  return durationMs === null ? '–' : durationText(durationMs);
}

/** Returns when the next attempt of a pending delivery is made: 'in 8 s', 'now'; undefined if none is due. */
export function nextAttemptText(
  { outcome, nextAttemptAt }: Pick<LogEntry, 'outcome' | 'nextAttemptAt'>,
  nowMs: number,
): string | undefined {
  if (outcome !== 'pending' || nextAttemptAt === null) return undefined;
  const leftMs = new Date(nextAttemptAt).getTime() - nowMs;
  return leftMs < 1_000 ? 'now' : `in ${spanText(leftMs)}`;
}
