// svc views skip: leaves the event at which a view has stopped out of its rows.
import { command } from '../command.ts';
import { changeService, readReason, readSeq, REASON_OPTION } from '../service-change.ts';
import { readEntity } from '../timer-owner.ts';

export const viewsSkip = command(
  {
    name: 'views skip',
    summary: 'let a view continue without the event at which it has stopped',
    about: `Leaves the event at which a view of a running service has stopped out of the view's rows, for good
or until the view has another definition, and lets the view continue. svc views DIR names the
event.`,
    words: [
      { name: 'DIR', completes: { kind: 'folder' } },
      { name: 'VIEW' },
      { name: 'ENTITY' },
      { name: 'EVENT' },
    ],
    options: { reason: REASON_OPTION },
    notes: `ENTITY is COMPONENT/ID, and EVENT the number of the event among the records of that entity.
Correcting the code of the view and giving it another version loses no event.`,
    examples: ['svc views skip .svc/orders orders order/o1 3 --reason unreadable'],
  },
  ([dir, view, entity, event], { reason }) =>
    changeService(
      dir!,
      {
        kind: 'skip-in-view',
        view: view!,
        entity: readEntity('views skip', entity!),
        seq: readSeq('views skip', event!),
        reason: readReason('views skip', reason),
      },
      {
        done: `The view '${view}' continues without event ${event} of ${entity}.`,
        nothing: `The view '${view}' has not stopped at event ${event} of ${entity}. svc views DIR says where views have stopped.`,
      },
    ),
);
