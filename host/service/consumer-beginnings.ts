// ConsumerBeginnings store where new consumers begin that get the events from now on, before anybody can store such an event. So no
// event is missed between the start of the service and that of the thread which delivers events.
import type { ConsumerDescriptor } from '@svc/contract';
import { type ConsumerState, openConsumerState } from '../storage/follower-connection.ts';
import type { OpenedJournal } from '../storage/opened-journal.ts';

/** Rejects with SVC_JOURNAL_UNAVAILABLE or SVC_DISK_FULL. */
export async function beginConsumers(
  journal: OpenedJournal,
  consumers: readonly ConsumerDescriptor[] = [],
): Promise<void> {
  const fromNow = consumers.filter(({ start }) => start === 'now');
  if (fromNow.length === 0) return;
  const state = await openConsumerState(journal.followerConnection);
  try {
    const position = await journal.lastPosition();
    for (const { id, start } of fromNow)
      // oxlint-disable-next-line no-await-in-loop -- there are few
      if (await isNew(state, id))
        // oxlint-disable-next-line no-await-in-loop -- there are few
        await journal.beginConsumer({ id, start }, position);
  } finally {
    state.close();
  }
}

/** Whether nothing is stored of a consumer. A damaged row stops that consumer alone, whose dispatcher reports it. */
async function isNew(state: ConsumerState, id: string): Promise<boolean> {
  try {
    return (await state.consumer(id)) === undefined;
  } catch {
    return false;
  }
}
