// Measurement (d): the engine without HTTP: durable commands of a module, compared with a plain segment log whose
// writer only writes and syncs groups of the same records.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { attachSqliteJournal } from '../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../host/storage/sqlite/sqlite-journal.ts';
import { CounterEngine } from './counter-engine.ts';
import { compareRates, IN_FLIGHT } from './in-flight.ts';
import type { Measurement, Pace } from './report.ts';
import { SegmentLog } from './segment-log.ts';

/** A record as long as the journal's data for one event of the counter. */
const RECORD = JSON.stringify({ type: 'added', amount: 1 });

export async function measureEngine(pace: Pace): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const opened = await openSqliteJournal(join(folder, 'data'));
  const engine = await CounterEngine.open(attachSqliteJournal(opened.connect()));
  const log = new SegmentLog(join(folder, 'segments'));
  try {
    const command = (turn: number) => engine.add(turn);
    const append = () => log.append(RECORD);
    const { rates } = await compareRates(command, append, pace);
    return [
      {
        letter: 'd',
        what: `engine and SQLite journal, ${IN_FLIGHT} commands in flight, 1,000 entities`,
        beside: 'raw segment log with fsync',
        ...rates,
        cores: `a thread that decides and one that writes share ${availableParallelism()}`,
      },
    ];
  } finally {
    await engine.close();
    await opened.close();
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
