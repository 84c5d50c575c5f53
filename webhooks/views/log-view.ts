// LogView: the deliveries of a segment as the log lists them, the newest first. The attempts are in the row, so that a page is one walk
// of one index.
import { Type } from 'typebox';
import { defineView } from '@svc/host';
import { EndedAttempt, nullable, Outcome } from '../model/delivery-state.ts';
import { delivery } from '../model/delivery.ts';

export const LogRow = Type.Object({
  /** Id of the delivery. */
  id: Type.String(),
  tenant: Type.String(),
  subscription: Type.String(),
  eventId: Type.String(),
  eventType: Type.String(),
  /** Empty: the event is about no dataset. */
  dataset: Type.String(),
  url: Type.String(),
  outcome: Outcome,
  error: nullable(Type.String()),
  occurredAtMs: Type.Integer(),
  nextAttemptAtMs: nullable(Type.Integer()),
  attempts: Type.Array(EndedAttempt),
});

const tenant = Type.String();
const sinceMs = Type.Integer();
const ORDER = 'occurredAtMs >= :sinceMs order by occurredAtMs desc';

export const logView = defineView({
  id: 'log',
  version: '1',
  row: LogRow,
  from: [
    {
      entity: delivery,
      fold(row, event, { entityId, put, keep }) {
        if (event.type === 'opened') {
          const { about, url, outcome, error, nextAttemptAtMs } = event;
          const { source: _, ...more } = about;
          return put({
            ...more,
            id: entityId,
            dataset: about.dataset ?? '',
            url,
            outcome,
            error,
            nextAttemptAtMs,
            attempts: [],
          });
        }
        if (row === undefined) return keep();
        switch (event.type) {
          case 'ended':
            return put({
              ...row,
              url: event.url,
              outcome: event.outcome,
              nextAttemptAtMs: event.nextAttemptAtMs,
              attempts: [...row.attempts, event.attempt],
            });
          case 'closed':
            return put({ ...row, outcome: 'exhausted', error: event.error, nextAttemptAtMs: null });
          case 'retried':
            return put({
              ...row,
              outcome: 'pending',
              error: null,
              nextAttemptAtMs: event.nextAttemptAtMs,
            });
          case 'begun':
            return keep();
        }
      },
    },
  ],
  indexes: [
    ['tenant', 'occurredAtMs'],
    ['tenant', 'outcome', 'occurredAtMs'],
    ['tenant', 'subscription', 'occurredAtMs'],
    ['tenant', 'subscription', 'outcome', 'occurredAtMs'],
    ['tenant', 'dataset', 'occurredAtMs'],
    ['tenant', 'eventId', 'occurredAtMs'],
  ],
  queries: {
    all: {
      where: `tenant = :tenant and ${ORDER}`,
      parameters: Type.Object({ tenant, sinceMs }),
    },
    ofOutcome: {
      where: `tenant = :tenant and outcome = :outcome and ${ORDER}`,
      parameters: Type.Object({ tenant, sinceMs, outcome: Outcome }),
    },
    ofSubscription: {
      where: `tenant = :tenant and subscription = :subscription and ${ORDER}`,
      parameters: Type.Object({ tenant, sinceMs, subscription: Type.String() }),
    },
    ofSubscriptionAndOutcome: {
      where: `tenant = :tenant and subscription = :subscription and outcome = :outcome and ${ORDER}`,
      parameters: Type.Object({ tenant, sinceMs, subscription: Type.String(), outcome: Outcome }),
    },
    ofDataset: {
      where: `tenant = :tenant and dataset = :dataset and ${ORDER}`,
      parameters: Type.Object({ tenant, sinceMs, dataset: Type.String() }),
    },
    ofEvent: {
      where: `tenant = :tenant and eventId = :eventId and ${ORDER}`,
      parameters: Type.Object({ tenant, sinceMs, eventId: Type.String() }),
    },
  },
});
