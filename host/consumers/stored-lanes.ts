// StoredLanes reads the lanes of a consumer at its start. Their reasons stay in the rows, as Lanes says.
import type { ConsumerReader, StoredLane } from '../engine/needs/consumers.ts';

/** Lanes of a page. */
const PAGE = 1_000;

/** Returns all lanes of a consumer. Rejects as the reader does. */
export async function storedLanes(
  reader: ConsumerReader,
  consumer: string,
): Promise<readonly StoredLane[]> {
  const lanes: StoredLane[] = [];
  for (let page = await reader.lanes(consumer, PAGE); page.length > 0;) {
    lanes.push(...page.map(withoutReason));
    // oxlint-disable-next-line no-await-in-loop -- a page begins after the one before
    page = await reader.lanes(consumer, PAGE, page.at(-1)!.entity);
  }
  return lanes;
}

/** The reason of an operator's skip has yet to be written to the log. */
function withoutReason(lane: StoredLane): StoredLane {
  return isSkippedBefore(lane) ? lane : { ...lane, reason: undefined };
}

/** Whether the event before was skipped while no host ran: only then, a lane that is not parked has a reason and no attempts. */
export function isSkippedBefore({ attempts, nextMs, reason }: StoredLane): boolean {
  return attempts === 0 && nextMs !== undefined && reason !== undefined;
}
