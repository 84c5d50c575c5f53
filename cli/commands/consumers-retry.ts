// svc consumers retry: delivers a parked event to its consumer again.
import { command } from '../command.ts';
import { changeService } from '../service-change.ts';
import { readEntity } from '../timer-owner.ts';

export const consumersRetry = command(
  {
    name: 'consumers retry',
    summary: 'deliver a parked event to its consumer again',
    about: `Delivers the event again at which the events of an entity are parked for a consumer, with all of
its attempts; the later events of the entity follow. A running service does so at once, otherwise
its next start.`,
    words: [
      { name: 'DIR', completes: { kind: 'folder' } },
      { name: 'CONSUMER' },
      { name: 'ENTITY' },
    ],
    options: {},
    notes: 'ENTITY is COMPONENT/ID. svc consumers DIR CONSUMER --state parked lists the entities.',
    examples: ['svc consumers retry .svc/orders ledger order/o1'],
  },
  ([dir, consumer, entity]) =>
    changeService(
      dir!,
      {
        kind: 'retry-lane',
        consumer: consumer!,
        entity: readEntity('consumers retry', entity!),
      },
      {
        done: `The events of ${entity} are delivered to the consumer '${consumer}' again.`,
        nothing: `No events of ${entity} are parked for the consumer '${consumer}'. svc consumers DIR ${consumer} lists those that wait.`,
      },
    ),
);
