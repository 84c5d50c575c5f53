// JournalVerification checks a whole journal: every record against its checksum, commit order and the order of each
// entity for holes, and each index against its table, in both directions. It reports all findings, as it finds them.
//
// It reads in short steps, also while a host runs, and checks the records that were stored when it began.
// SQLite's own check of the file's structure is one long read, during which the write-ahead log of a running host would
// grow.
import { SvcError } from '@svc/kit/svc-error';
import { sqliteCode } from '@svc/kit/sqlite-code';
import { answersChecked, manifestsChecked, modulesChecked } from './answer-verification.ts';
import { deletionsChecked, entitiesChecked, recordIndexChecked } from './index-verification.ts';
import { SqliteScan } from './journal-scan.ts';
import { ReadingConnection } from './reading-connection.ts';
import { SQLITE_ERROR } from '../sqlite-failure.ts';
import { consumersChecked, timersChecked } from './timer-verification.ts';
import type { VerificationResult, VerificationStep } from '../../verification-step.ts';

/** Maximum number of records of a query; many, because each query costs. */
const RECORDS_AT_ONCE = 2_000;
/** Number of findings after which SQLite's check stops. */
const STRUCTURE_FINDINGS_MAX = 100;
/** Maximum number of manifests that are compared with the table; modules have far fewer. */
const MANIFESTS_MAX = 10_000;
/** Maximum number of positions that are reported as out of range. */
const OUT_OF_RANGE_MAX = 100;

const STRUCTURE = () => `PRAGMA quick_check(${STRUCTURE_FINDINGS_MAX})`;
const OUT_OF_RANGE = () => `SELECT pos FROM journal
  WHERE pos < 1 OR pos > ${Number.MAX_SAFE_INTEGER} LIMIT ${OUT_OF_RANGE_MAX}`;

/**
 * Verifies the journal in a data folder; the last step is the result. `structure`: whether SQLite's own check runs even
 * if there is a write-ahead log, as beside a running host. Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER,
 * SVC_DATA_UNUSABLE, SVC_JOURNAL_UNAVAILABLE, and SVC_JOURNAL_CORRUPT when nothing can be read at all.
 */
export function* verifyJournal(
  dir: string,
  { structure }: { readonly structure: boolean },
): Generator<VerificationStep | VerificationResult, void> {
  const connection = new ReadingConnection(dir);
  const scan = new SqliteScan(dir);
  let findings = 0;
  const counted = function* <T>(
    steps: Generator<VerificationStep, T>,
  ): Generator<VerificationStep, T> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (value.kind === 'finding') findings++;
      yield value;
    }
  };
  try {
    const format = connection.format;
    const structureChecked = structure || !connection.hasLog;
    if (structureChecked) yield* counted(guarded("SQLite's structure", structureCheck(connection)));
    const lastPos = yield* counted(guarded('the last record', lastPosition(scan)));
    const seen = yield* counted(recordsChecked(scan, lastPos ?? 0));
    yield* counted(guarded('the positions of records', outOfRange(connection)));
    yield* counted(
      guarded('the index of records', recordIndexChecked(connection, lastPos ?? 0, seen.records)),
    );
    yield* counted(
      guarded('the index of deletions', deletionsChecked(connection, lastPos ?? 0, seen.deletions)),
    );
    const entities = yield* counted(guarded('the entities', entitiesChecked(connection)));
    let answers: number | undefined;
    if (format >= 3) {
      answers = yield* counted(guarded('the answers', answersChecked(connection)));
      yield* counted(guarded('the manifests', manifestsChecked(connection, seen.manifests)));
      yield* counted(guarded('the modules', modulesChecked(connection)));
    }
    if (format >= 5) {
      yield* counted(guarded('the timers', timersChecked(connection)));
      yield* counted(guarded('the consumers', consumersChecked(connection)));
    }
    yield {
      kind: 'result',
      records: seen.records,
      entities: entities ?? 0,
      answers: answers ?? 0,
      findings,
      structureChecked,
    };
  } finally {
    scan.close();
    connection.close();
  }
}

/** Reports a part of the file that cannot be read as a finding, so that the verification continues. */
function* guarded<T>(
  what: string,
  steps: Generator<VerificationStep, T>,
): Generator<VerificationStep, T | undefined> {
  try {
    return yield* steps;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    // A missing table or index is damage too.
    if (error.code !== 'SVC_JOURNAL_CORRUPT' && sqliteCode(error.cause) !== SQLITE_ERROR)
      throw error;
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    yield { kind: 'finding', problem: `${what} cannot be read: ${reason}` };
    return undefined;
  }
}

function* structureCheck(connection: ReadingConnection): Generator<VerificationStep, void> {
  for (const [line] of connection.rows(STRUCTURE, []))
    if (line !== 'ok') yield { kind: 'finding', problem: `SQLite: ${String(line)}` };
}

// oxlint-disable-next-line require-yield -- as the other parts
function* lastPosition(scan: SqliteScan): Generator<VerificationStep, number> {
  return scan.lastPos();
}

interface Seen {
  readonly records: number;
  readonly deletions: number;
  /** Indexed by component. */
  readonly manifests: ReadonlyMap<string, ReadonlySet<string>>;
}

function* recordsChecked(scan: SqliteScan, lastPos: number): Generator<VerificationStep, Seen> {
  let records = 0;
  let deletions = 0;
  let manifestCount = 0;
  const manifests = new Map<string, Set<string>>();
  for (let at = 0, isLast = false; !isLast;) {
    const page = scan.page(at, RECORDS_AT_ONCE, lastPos);
    ({ lastPos: at, isLast } = page);
    for (const entry of page.entries) {
      if (entry.kind === 'damaged') {
        const { component, id, seq, pos, problem } = entry;
        if (entry.isStored) records++;
        yield { kind: 'finding', component, id, seq, pos, problem };
        continue;
      }
      records++;
      const { component, record } = entry;
      if (record.kind === 'deleted') deletions++;
      else {
        let ofComponent = manifests.get(component);
        if (ofComponent === undefined) manifests.set(component, (ofComponent = new Set()));
        const { manifest } = record.event;
        if (ofComponent.has(manifest) || manifestCount >= MANIFESTS_MAX) continue;
        ofComponent.add(manifest);
        manifestCount++;
      }
    }
    yield { kind: 'progress', what: 'records', done: at, total: lastPos };
  }
  return { records, deletions, manifests };
}

function* outOfRange(connection: ReadingConnection): Generator<VerificationStep, void> {
  for (const [pos] of connection.rows(OUT_OF_RANGE, []))
    yield {
      kind: 'finding',
      problem: `a record has the position ${String(pos)}, which is out of range`,
    };
}
