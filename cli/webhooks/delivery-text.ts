// DeliveryText: deliveries of the log in words.
import type { LogAttempt, LogEntry } from '@svc/client';

export const DELIVERY_HEADS = [
  'id',
  'event',
  'dataset',
  'outcome',
  'attempts',
  'last',
  'occurred',
  'next attempt',
] as const;

export function deliveryRow(entry: LogEntry): readonly string[] {
  const { id, eventType, datasetId, outcome, error, attempts, occurredAt, nextAttemptAt } = entry;
  return [
    id,
    eventType,
    datasetId ?? '',
    outcome,
    String(attempts.length),
    error ?? lastOf(attempts),
    occurredAt,
    nextAttemptAt ?? '',
  ];
}

export function deliveryFields(entry: LogEntry) {
  return {
    id: entry.id,
    subscription: entry.subscriptionId,
    event: `${entry.eventType}, ${entry.eventId}`,
    dataset: entry.datasetId ?? undefined,
    url: entry.url,
    outcome: entry.error === null ? entry.outcome : `${entry.outcome} (${entry.error})`,
    occurred: entry.occurredAt,
    next: entry.nextAttemptAt ?? undefined,
  };
}

export const ATTEMPT_HEADS = ['run', 'attempt', 'time', 'answer', 'ms'] as const;

export function attemptRow(attempt: LogAttempt): readonly string[] {
  const { run, number, time, durationMs } = attempt;
  return [String(run), String(number), time, answerOf(attempt), String(durationMs ?? '')];
}

function lastOf(attempts: readonly LogAttempt[]): string {
  const last = attempts.at(-1);
  return last === undefined ? '' : answerOf(last);
}

/** An attempt can have both: a redirect has a status and is an error. */
function answerOf({ status, error }: LogAttempt): string {
  return [status, error].filter((each) => each !== null).join(' ');
}
