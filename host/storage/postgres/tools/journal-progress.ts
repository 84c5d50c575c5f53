// DatabaseProgress is how far a journal in a database is.
import type { Position, Positions } from '../../../engine/needs/feed.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import type { JournalProgress } from '../../journal-progress.ts';
import { SliceHeads } from '../feed/slice-heads.ts';
import { SliceOffsets } from '../feed/slice-offsets.ts';
import { SlicePositions } from '../feed/slice-positions.ts';
import { readEnds } from './commit-order.ts';
import { DatabaseReader } from './database-reader.ts';

/** Records of each slice that are looked at for one of certain components. */
const LOOKED_AT_MAX = 1_000;

const HAS_NODE = {
  text: 'SELECT EXISTS (SELECT FROM svc.node WHERE lease_until > clock_timestamp())',
};
/** The earliest one of the first records of all slices. */
const NEXT = {
  name: 'tool-next-time',
  text: `SELECT min(n.time_ms) FROM unnest($1::int2[], $2::int8[]) AS w(slice, after)
  CROSS JOIN LATERAL (
    SELECT j.time_ms FROM svc.journal j
    WHERE j.slice = w.slice AND j.off > w.after AND j.off <= w.after + ${LOOKED_AT_MAX} AND j.component = ANY($3::text[])
    ORDER BY j.off LIMIT 1
  ) n`,
};
const MODULE = {
  text: 'SELECT fingerprint, descriptor FROM svc.module ORDER BY number DESC LIMIT 1',
};

export class DatabaseProgress implements JournalProgress {
  readonly #reader: DatabaseReader;

  constructor(location: JournalInDatabase) {
    this.#reader = new DatabaseReader(location);
  }

  async isHosted(): Promise<boolean> {
    return (await this.#reader.query(HAS_NODE))[0]![0] as boolean;
  }

  async positions(): Promise<Positions> {
    const heads = new SliceHeads();
    heads.advance((await readEnds(this.#reader)).entries());
    return new SlicePositions(heads);
  }

  async nextTimeMs(position: Position, components: readonly string[]): Promise<number | undefined> {
    const { offs } = SliceOffsets.parse(position) ?? SliceOffsets.start;
    const slices = [...offs.keys()];
    const [row] = await this.#reader.query(NEXT, [slices, [...offs], components]);
    return (row![0] as number | null) ?? undefined;
  }

  async lastModule(): Promise<
    { readonly fingerprint: string; readonly descriptor: string } | undefined
  > {
    const [row] = (await this.#reader.query(MODULE)) as readonly [string, string][];
    return row && { fingerprint: row[0], descriptor: row[1] };
  }

  close(): void {
    this.#reader.close();
  }
}
