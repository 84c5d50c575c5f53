// EndedFeed is the feed of a journal in a database that ends with the records which were the last ones when it was opened.
import { systemClock } from '../../../system.ts';
import type { Feed } from '../../../engine/needs/feed.ts';
import { type JournalInDatabase, locationName } from '../../journal-location.ts';
import { PostgresFeed } from '../feed/postgres-feed.ts';
import { SliceHeads } from '../feed/slice-heads.ts';
import { FollowingSession } from '../following-session.ts';
import { readEnds } from './commit-order.ts';
import { connectForReading } from './database-reading.ts';

const JOURNAL = { text: 'SELECT id FROM svc.cluster' };

/** Rejects as `connectForReading` does. */
export async function openEndedFeed(location: JournalInDatabase): Promise<Feed> {
  const session = new FollowingSession({
    connect: () => connectForReading(location),
    shown: locationName(location),
    clock: systemClock,
  });
  try {
    const [row] = await session.query(JOURNAL, []);
    const heads = new SliceHeads();
    const ends = await readEnds({
      query: (statement, values = []) => session.query(statement, values),
    });
    heads.advance(ends.entries());
    return new PostgresFeed({ session, heads: heads.shared, journal: row![0] as string });
  } catch (error) {
    session.close();
    throw error;
  }
}
