// A process that uses a journal as the engine does: commands on several entities, some of them together, deletions,
// a large event, checkpoints, and the journal closed and opened again. It notes in the file `marks` what it has
// sent and how that was settled; a FaultDisk writes these marks down among the operations of the disk.
// Usage: node journal-workload.ts FOLDER WAVES SEED FIRST-NUMBER [FAULT-CONTROL], where the disk fails in every
// other wave.
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Journal } from '../../../host/engine/needs/journal.ts';
import type { FiredOccurrence } from '../../../host/engine/needs/timers.ts';
import type { SvcError } from '../../../kit/svc-error.ts';
import { attachSqliteJournal } from '../../../host/storage/sqlite/attached-journal.ts';
import { journalPath } from '../../../host/storage/sqlite/journal-file.ts';
import { JOURNAL_LIMITS_DEFAULT } from '../../../host/storage/journal-limits.ts';
import { openSqliteJournal } from '../../../host/storage/sqlite/sqlite-journal.ts';
import { openTimerReader } from '../../../host/storage/sqlite/timer-reader.ts';
import { Random } from '../random.ts';
import { MARKS } from './disk-trace.ts';
import { type Fault, FaultControl } from './fault-disk.ts';
import {
  ENTITIES,
  type JournalCommand,
  answerOf,
  entityOf,
  numbersOf,
  recordsOf,
  timersOf,
} from './journal-model.ts';

const WAVES_PER_OPENING = 12;
/** What commands do to the timer of their entity, and how its firings end. */
const CHANGES = ['set', 'set', 'set-recurring', 'cancel'] as const;
const ENDS = ['remove', 'rearm', 'retry', 'dead'] as const;
/** The index is compacted every few commands. */
const PLACE_SIZES = { level0Max: 6, level1Max: 12 };

const [dir, waves] = [process.argv[2]!, Number(process.argv[3])];
const random = new Random(Number(process.argv[4]));
const control = process.argv[6] === undefined ? undefined : new FaultControl(process.argv[6]);
const marks = openSync(join(dir, MARKS), 'a');
const mark = (text: string): void => void writeSync(marks, `${text}\n`);

/** The next command's number, which its records carry. */
let number = Number(process.argv[5]);
/** Of each entity, as far as it is known. */
const lastSeq = new Map<string, number>();

async function send(journal: Journal, planned: JournalCommand): Promise<void> {
  const { id } = planned;
  let firstSeq = lastSeq.get(id);
  if (firstSeq === undefined) {
    const stored = await journal.read(entityOf(planned), 0, Number.MAX_SAFE_INTEGER);
    firstSeq = stored.at(-1)?.seq ?? 0;
    mark(`read ${numbersOf(stored).join(' ')}`);
  }
  const occurrence = planned.timer === 'none' ? pendingTimerOf(planned) : undefined;
  const end = ENDS[planned.number % ENDS.length]!;
  const command = occurrence === undefined ? planned : { ...planned, timer: { occurrence, end } };
  const records = recordsOf(command, firstSeq + 1);
  lastSeq.set(id, firstSeq + records.length);
  mark(`sent ${JSON.stringify(command)}`);
  const failure = await new Promise<SvcError | undefined>((resolve) => {
    journal.append(entityOf(command), records, resolve, {
      reply: answerOf(command),
      timers: timersOf(command),
    });
  });
  mark(
    failure === undefined
      ? `stored ${command.number}`
      : `refused ${command.number} ${failure.code}`,
  );
  if (failure !== undefined) lastSeq.delete(id);
}

/** Returns the occurrence of the entity's timer, to be fired; undefined if there is none, or it is dead. */
function pendingTimerOf(command: JournalCommand): FiredOccurrence | undefined {
  const reader = openTimerReader(journalPath(dir));
  try {
    const owner = entityOf(command);
    const [timer] = reader.list({ owner, state: 'pending' }, 0, 1).timers;
    return timer && { number: timer.number, dueMs: timer.dueMs, attempts: timer.attempts };
  } finally {
    reader.close();
  }
}

/** Commands that reach the journal in one tick, where their entities are known; some entities get two. */
async function wave(journal: Journal): Promise<void> {
  const sent: Promise<void>[] = [];
  for (const id of ENTITIES) {
    if (!random.chance(60)) continue;
    const only = !(random.chance(30) && lastSeq.has(id));
    for (let times = only ? 1 : 2; times > 0; times--) {
      const keyed = random.chance(40);
      sent.push(
        send(journal, {
          number: number++,
          id,
          keyed,
          events: random.below(3) + (keyed ? 0 : 1),
          deletes: random.chance(15),
          // The timer that is fired is that on disk, so no other command of the entity is under way.
          timer: times === 1 && only && random.chance(60) ? 'none' : random.pick(CHANGES),
          padding: random.chance(5) ? 30_000 : random.below(200),
        }),
      );
    }
  }
  await Promise.all(sent);
}

/** What the journal's writer does when its log has grown, much sooner. */
function checkpoint(): void {
  const database = new DatabaseSync(journalPath(dir));
  try {
    database.exec(`PRAGMA wal_checkpoint(${random.pick(['PASSIVE', 'RESTART'])})`);
  } catch (error) {
    if (control === undefined) throw error;
  } finally {
    database.close();
  }
}

function fault(): Fault {
  const mode = random.pick(['EIO', 'ENOSPC'] as const);
  const kind = mode === 'EIO' ? random.pick(['write', 'sync', 'sync'] as const) : 'write';
  // A wave that is one transaction has one sync, and another one before a checkpoint.
  const first = kind === 'sync' ? random.pick([1, 1, 2]) : 1 + random.below(12);
  const last = first + random.pick([0, 0, 5, 1_000]);
  return { mode, kind, first, last };
}

for (let done = 0; done < waves;) {
  const opened = await openSqliteJournal(dir, JOURNAL_LIMITS_DEFAULT, {
    levelSizes: PLACE_SIZES,
  });
  const journal = attachSqliteJournal(opened.connect());
  for (let turn = 0; turn < WAVES_PER_OPENING && done < waves; turn++, done++) {
    const failing = control !== undefined && done % 2 === 1;
    if (failing) control.fail(fault());
    await wave(journal);
    if (random.chance(30)) checkpoint();
    if (failing) control.heal();
  }
  await journal.close();
  await opened.close();
}
mark('end');
