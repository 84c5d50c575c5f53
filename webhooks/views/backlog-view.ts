// BacklogView: how many deliveries of each subscription are pending. A subscription without any has no row, so that the rows are those
// which the scheduler has to look at.
//
// Invariant: the events of a delivery come in their order, so that a number is never below that of the pending ones which were counted.
import { Type } from 'typebox';
import { defineView } from '@svc/host';
import { delivery } from '../model/delivery.ts';

export const BacklogRow = Type.Object({
  subscription: Type.String(),
  tenant: Type.String(),
  pending: Type.Integer(),
});

export const backlogView = defineView({
  id: 'backlog',
  version: '1',
  row: BacklogRow,
  from: [
    {
      entity: delivery,
      keys: (event) => {
        switch (event.type) {
          case 'opened':
            return event.outcome === 'pending' ? [event.about.subscription] : [];
          case 'ended':
            return event.outcome === 'pending' ? [] : [event.subscription];
          case 'closed':
          case 'retried':
            return [event.subscription];
          case 'begun':
            return [];
        }
      },
      fold(row, event, { key: subscription, put, remove }) {
        if (event.type === 'opened' || event.type === 'retried') {
          const tenant = event.type === 'opened' ? event.about.tenant : event.tenant;
          return put({ subscription, tenant, pending: (row?.pending ?? 0) + 1 });
        }
        return row === undefined || row.pending <= 1
          ? remove()
          : put({ ...row, pending: row.pending - 1 });
      },
    },
  ],
  queries: { all: { where: 'order by key' } },
});
