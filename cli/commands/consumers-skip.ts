// svc consumers skip: settles a parked event without its consumer.
import { command } from '../command.ts';
import { journalNote } from '../journal-word.ts';
import { changeService, readReason, readSeq, REASON_OPTION } from '../service-change.ts';
import { readEntity } from '../timer-owner.ts';

export const consumersSkip = command(
  {
    name: 'consumers skip',
    summary: 'let the events of an entity continue without the parked one',
    about: `Settles the event at which the events of an entity are parked for a consumer, without having
handled it; the later events of the entity follow. A running service continues at once, or
within a second if its journal is in a database; otherwise its next start does.`,
    words: [
      { name: 'DIR', completes: { kind: 'folder' } },
      { name: 'CONSUMER' },
      { name: 'ENTITY' },
      { name: 'EVENT' },
    ],
    options: { reason: REASON_OPTION },
    notes: `${journalNote()}
ENTITY is COMPONENT/ID, and EVENT the number of the parked event among the records of that entity.
The log of the service has the reason. An entity whose row is damaged continues after EVENT,
whatever its number: give the last event that is known to be handled.`,
    examples: ['svc consumers skip .svc/orders ledger order/o1 3 --reason booked-by-hand'],
  },
  ([dir, consumer, entity, event], { reason }) =>
    changeService(
      dir!,
      {
        kind: 'skip-in-lane',
        consumer: consumer!,
        entity: readEntity('consumers skip', entity!),
        seq: readSeq('consumers skip', event!),
        reason: readReason('consumers skip', reason),
      },
      {
        done: `The consumer '${consumer}' continues without event ${event} of ${entity}.`,
        nothing: `The events of ${entity} are not parked at event ${event} for the consumer '${consumer}'. svc consumers DIR ${consumer} lists those that wait.`,
      },
    ),
);
