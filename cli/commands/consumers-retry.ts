// svc consumers retry: delivers parked events to their consumer again.
import { command, CommandFailure, EXIT_CODE, type ExitCode } from '../command.ts';
import { counted } from '../counted.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { changeService } from '../service-change.ts';
import { readEntity } from '../timer-owner.ts';
import { printable } from '@svc/kit/printable';
import { UsageError } from '../usage-error.ts';

export const consumersRetry = command(
  {
    name: 'consumers retry',
    summary: 'deliver parked events to their consumer again',
    about: `Delivers the event again at which the events of an entity are parked for a consumer, with all of
its attempts; the later events of the entity follow. A running service does so at once, or
within a second if its journal is in a database; otherwise its next start does.`,
    words: [
      { name: 'DIR', completes: { kind: 'folder' } },
      { name: 'CONSUMER' },
      { name: 'ENTITY', optional: true },
    ],
    options: {
      all: {
        type: 'boolean',
        help: 'instead of ENTITY: all entities whose events are parked now, 1,000 at a time',
      },
    },
    notes: `${journalNote()}
ENTITY is COMPONENT/ID. svc consumers DIR CONSUMER --state parked lists the entities. One whose row
is damaged is not delivered again; svc consumers skip says where it continues.`,
    examples: [
      'svc consumers retry .svc/orders ledger order/o1',
      'svc consumers retry .svc/orders ledger --all',
    ],
  },
  ([dir, consumer, entity], { all }) => {
    if (all === (entity !== undefined))
      throw new UsageError('consumers retry takes either ENTITY or --all.');
    if (all) return retryAll(dir!, consumer!);
    return changeService(
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
    );
  },
);

/** Retries as many entities as are parked at the beginning, so that events which are parked again end nothing and repeat nothing. */
async function retryAll(dir: string, consumer: string): Promise<ExitCode> {
  const tools = await import('@svc/host/tools');
  const { changeFolder, inspectConsumers, RETRIED_AT_ONCE_MAX } = tools;
  const location = journalOf(tools, dir);
  const inspection = inspectConsumers(location);
  let parked = 0;
  for await (const _ of inspection.parked(consumer)) parked++;
  inspection.close();
  let left = parked;
  // oxlint-disable-next-line no-await-in-loop -- a part follows the other
  while (left > 0 && (await changeFolder(location, { kind: 'retry-lanes', consumer })).changed)
    left -= RETRIED_AT_ONCE_MAX;
  if (left === parked)
    throw new CommandFailure(
      'SVC_NOT_IN_JOURNAL',
      `No events are parked for the consumer '${consumer}' that can be delivered again. svc consumers ${dir} lists the consumers.`,
    );
  const entities = counted(parked, 'entity', 'entities');
  process.stderr.write(
    printable(`The events of ${entities} are delivered to the consumer '${consumer}' again.`) +
      '\n',
  );
  return EXIT_CODE.ok;
}
