// SnapshotFiles: the file of snapshots in a data folder, with its log, as a test takes it away, damages it, and puts
// another in its place. None of that may change anything but time.
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { snapshotPath } from '../../../host/storage/sqlite/snapshot-file.ts';
import type { Random } from '../random.ts';

const SUFFIXES = ['', '-wal', '-shm'] as const;
const DAMAGED_BYTES_MAX = 4_096;

/** By suffix; those that there were. */
export type SnapshotFiles = ReadonlyMap<string, Buffer>;

/** While no host runs. */
export function takeSnapshots(data: string): SnapshotFiles {
  const path = snapshotPath(data);
  return new Map(
    SUFFIXES.filter((suffix) => existsSync(path + suffix)).map((suffix) => [
      suffix,
      readFileSync(path + suffix),
    ]),
  );
}

export function putSnapshots(data: string, files: SnapshotFiles): void {
  const path = snapshotPath(data);
  for (const suffix of SUFFIXES) rmSync(path + suffix, { force: true });
  for (const [suffix, bytes] of files) writeFileSync(path + suffix, bytes);
}

/** How many states are kept. */
export function countSnapshots(data: string): number {
  const path = snapshotPath(data);
  if (!existsSync(path)) return 0;
  const database = new DatabaseSync(path);
  try {
    return Number(database.prepare('SELECT count(*) AS count FROM snapshot').get()?.['count']);
  } finally {
    database.close();
  }
}

/** `others`: files of the past, and of another journal. Answers what it has tried. */
export function damageSnapshots(
  data: string,
  random: Random,
  others: readonly SnapshotFiles[],
): string {
  const what = random.pick(['none', 'no log', 'cut', 'overwritten', 'another', 'another'] as const);
  const path = snapshotPath(data);
  if (what === 'none') putSnapshots(data, new Map());
  else if (what === 'no log') rmSync(`${path}-wal`, { force: true });
  else if (what === 'another' && others.length > 0) putSnapshots(data, random.pick(others));
  else {
    const suffix = random.chance(50) ? '' : '-wal';
    if (!existsSync(path + suffix)) return what;
    const bytes = readFileSync(path + suffix);
    const at = random.below(bytes.length + 1);
    if (what === 'cut') truncateSync(path + suffix, at);
    else {
      for (let index = at; index < Math.min(at + DAMAGED_BYTES_MAX, bytes.length); index++)
        bytes[index] = random.below(256);
      writeFileSync(path + suffix, bytes);
    }
  }
  return what;
}
