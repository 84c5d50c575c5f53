// DueView: the pending deliveries of each subscription, by the time of their next attempt. The scheduler reads it for what it does not
// have in memory. An attempt that is under way is not seen here: the delivery itself says when the next one may begin.
import { Type } from 'typebox';
import { defineView } from '@svc/host';
import { delivery } from '../model/delivery.ts';

export const DueRow = Type.Object({
  /** Id of the delivery. */
  id: Type.String(),
  tenant: Type.String(),
  subscription: Type.String(),
  /** URL of the last attempt, or of the first one. */
  url: Type.String(),
  run: Type.Integer(),
  /** Number of the next attempt, unless it is under way. */
  number: Type.Integer(),
  dueAtMs: Type.Integer(),
});

export const dueView = defineView({
  id: 'due',
  version: '1',
  row: DueRow,
  from: [
    {
      entity: delivery,
      fold(row, event, { entityId: id, put, keep, remove }) {
        switch (event.type) {
          case 'opened': {
            const { about, url, nextAttemptAtMs: dueAtMs } = event;
            const { tenant, subscription } = about;
            return dueAtMs === null
              ? keep()
              : put({ id, tenant, subscription, url, run: 1, number: 1, dueAtMs });
          }
          case 'ended': {
            const { nextAttemptAtMs: dueAtMs, attempt, url } = event;
            if (row === undefined || dueAtMs === null) return remove();
            return put({ ...row, url, number: attempt.number + 1, dueAtMs });
          }
          case 'closed':
            return remove();
          case 'retried': {
            const { tenant, subscription, url, run, nextAttemptAtMs: dueAtMs } = event;
            return put({ id, tenant, subscription, url, run, number: 1, dueAtMs });
          }
          case 'begun':
            return keep();
        }
      },
    },
  ],
  indexes: [['subscription', 'dueAtMs']],
  queries: {
    ofSubscription: {
      where: 'subscription = :subscription order by dueAtMs',
      parameters: Type.Object({ subscription: Type.String() }),
    },
  },
});
