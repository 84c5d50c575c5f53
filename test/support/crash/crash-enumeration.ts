// CrashEnumeration: a workload on a traced disk, and the journal opened after a crash at each of its operations.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { journalPath } from '../../../host/storage/sqlite/journal-file.ts';
import { FORMAT_VERSION } from '../../../host/storage/sqlite/journal-schema.ts';
import { Random } from '../random.ts';
import { CrashFolder } from './crash-folder.ts';
import { CrashImages, type ImageKind } from './crash-images.ts';
import { type DiskOperation, readTrace } from './disk-trace.ts';
import { type Fault, FaultDisk } from './fault-disk.ts';
import { JournalModel } from './journal-model.ts';

const WORKLOAD = join(import.meta.dirname, 'journal-workload.ts');
/** More than one sends. */
const NUMBERS_PER_PROCESS = 10_000;
const JOURNALS = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'journals');

/** Formats of which a journal is kept, and that a host brings to the present one. */
export const PAST_FORMATS: readonly number[] = readdirSync(JOURNALS)
  .map((name) => Number(/^format-(\d+)\.sql$/.exec(name)?.[1]))
  .filter((format) => format < FORMAT_VERSION)
  .toSorted((a, b) => a - b);

export interface CrashWorkload {
  readonly waves: number;
  readonly seed: number;
  /** Of the journal that it begins with; none when it is left away. */
  readonly format?: number;
  /** The disk fails in every other wave, too. */
  readonly faults?: boolean;
  /** Processes that end so, one after the other, before the one that goes to its end. */
  readonly stops?: readonly Fault[];
}

export interface Enumerated {
  readonly operations: number;
  readonly images: Readonly<Record<ImageKind, number>>;
  /** Commands that were acknowledged. */
  readonly stored: number;
  /** What the stored commands did to timers. */
  readonly timerChanges: ReadonlySet<string>;
  /** Commands that were refused, by code. */
  readonly refusals: ReadonlyMap<string, number>;
  readonly failedSyncs: number;
  /** Crashes after which the journal breaks a rule. */
  readonly violations: readonly string[];
}

/** `scratch`: an empty folder. One of so many operations is looked after; 1: each. */
export async function enumerateCrashes(
  workload: CrashWorkload,
  scratch: string,
  oneOf = 1,
): Promise<Enumerated> {
  const { before, operations } = await run(workload, scratch);
  const random = new Random(workload.seed);
  const images: Record<ImageKind, number> = { written: 0, synced: 0, some: 0, torn: 0 };
  const violations: string[] = [];
  const model = new JournalModel();
  let marked = 0;
  const folder = new CrashFolder();
  try {
    folder.put({ files: before });
    folder.check(model);
    const all = new CrashImages(operations, before, random);
    for (const image of all.of(() => random.below(oneOf) === 0)) {
      for (; marked < image.after; marked++) {
        const operation = operations[marked]!;
        if (operation.kind === 'mark') model.mark(operation.text);
      }
      images[image.kind]++;
      folder.put(image);
      try {
        folder.check(model);
      } catch (error) {
        violations.push(`${image.kind} after operation ${image.after}: ${String(error)}`);
      }
    }
  } finally {
    folder.remove();
  }
  return {
    operations: operations.length,
    images,
    stored: model.storedCount,
    timerChanges: model.timerChanges,
    refusals: model.refusals,
    failedSyncs: operations.filter((operation) => operation.kind === 'sync' && operation.failed)
      .length,
    violations,
  };
}

interface Ran {
  readonly before: ReadonlyMap<string, Buffer>;
  readonly operations: readonly DiskOperation[];
}

async function run(workload: CrashWorkload, scratch: string): Promise<Ran> {
  const { waves, seed, format, faults = false, stops = [] } = workload;
  const dir = join(scratch, 'data');
  mkdirSync(dir);
  if (format !== undefined) {
    const database = new DatabaseSync(journalPath(dir));
    database.exec(readFileSync(join(JOURNALS, `format-${format}.sql`), 'utf8'));
    database.close();
  }
  const before = filesOf(dir);
  const disk = new FaultDisk(dir, scratch, { traced: true });
  for (const [index, stop] of [...stops, undefined].entries()) {
    disk.control.heal();
    if (stop !== undefined) disk.control.fail(stop);
    const args = [WORKLOAD, dir, waves, seed + index, 1 + index * NUMBERS_PER_PROCESS];
    if (faults) args.push(disk.controlPath);
    const child = spawn(process.execPath, args.map(String), {
      env: { ...process.env, ...disk.env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const ended = (await once(child, 'close')) as [number | null, string | null];
    const expected = stop === undefined ? [0, null] : [null, 'SIGKILL'];
    if (!isDeepStrictEqual(ended, expected))
      throw new Error(`process ${index} of the workload ended with ${ended.join(' ')}:\n${said}`);
  }
  return { before, operations: readTrace(disk.tracePath) };
}

function filesOf(dir: string): ReadonlyMap<string, Buffer> {
  return new Map(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name))]));
}
