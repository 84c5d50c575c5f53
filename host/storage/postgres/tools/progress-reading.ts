// ProgressReading reads how far a journal in a database is. Each function makes a connection for one look.
import type { Position, Positions } from '../../../engine/needs/feed.ts';
import { type JournalInDatabase, locationName } from '../../journal-location.ts';
import { connectDatabase } from '../connect-database.ts';
import { readPage } from '../feed/feed-page.ts';
import { SliceHeads } from '../feed/slice-heads.ts';
import { SliceOffsets } from '../feed/slice-offsets.ts';
import { SlicePositions } from '../feed/slice-positions.ts';
import { slicesAfter } from '../feed/slice-windows.ts';
import { FollowingSession } from '../following-session.ts';
import { readDatabase } from './database-reading.ts';

/** Records of a page, and pages that are looked at for a record of certain components. */
const PAGE_RECORDS = 5_000;
const PAGES = 2;

const HEADS = { text: 'SELECT slice, head FROM svc.slice' };

/** Returns the positions up to the last record that is stored now. Rejects as `readDatabase` does. */
export async function readPositions(location: JournalInDatabase): Promise<Positions> {
  return new SlicePositions(await readHeads(location));
}

/** Does what `JournalProgress.nextTimeMs` says. Rejects as `readDatabase` does. */
export async function readNextTimeMs(
  location: JournalInDatabase,
  position: Position,
  components: readonly string[],
): Promise<number | undefined> {
  const end = (await readHeads(location)).offsets();
  const wanted = new Set(components);
  const session = sessionOf(location);
  try {
    let from = SliceOffsets.parse(position) ?? SliceOffsets.start;
    for (let page = 0; page < PAGES; page++) {
      const windows = slicesAfter(from, end, PAGE_RECORDS);
      if (windows.length === 0) return undefined;
      const { records, readTo } = await readPage(session, windows, wanted);
      if (records.length > 0) return records[0]!.record.timeMs;
      from = from.with(readTo.map(({ slice, off }) => [slice, off]));
    }
    return undefined;
  } finally {
    session.close();
  }
}

async function readHeads(location: JournalInDatabase): Promise<SliceHeads> {
  const heads = new SliceHeads();
  const rows = await readDatabase(location, (session) => session.query(HEADS));
  heads.advance(rows as readonly (readonly [slice: number, head: number])[]);
  return heads;
}

function sessionOf(location: JournalInDatabase): FollowingSession {
  return new FollowingSession({
    connect: () => connectDatabase(location.source),
    shown: locationName(location),
    clock: { monotonicMs: () => performance.now() },
  });
}
