// JournalVerification checks a whole journal in a database: every record against its checksum, its slice and the head of that slice, the
// numbers of each slice and of each entity for holes, replies, timers, consumers and lanes against their checksums, and counts against
// what they count. It reports all findings, as it finds them.
//
// It reads in short statements beside services that run, and checks the records that were stored when it began. The structure of
// tables and indexes is PostgreSQL's own matter, whose extension `amcheck` checks it.
import { SvcError } from '@svc/kit/svc-error';
import type { JournalInDatabase } from '../../journal-location.ts';
import type {
  JournalFinding,
  VerificationResult,
  VerificationStep,
} from '../../verification-step.ts';
import type { Parameter, Row } from '../database-session.ts';
import { NUMBER, TIMER_COLUMNS, timerOfRow } from '../timers/timer-row.ts';
import { type SliceEnds, noRecords, readEnds, sumOf } from './commit-order.ts';
import { findingOf } from './database-entries.ts';
import { DatabaseReader } from './database-reader.ts';
import { checkEntities } from './entity-numbers.ts';
import { OrderedRecords } from './ordered-records.ts';
import {
  REPLY_COLUMNS,
  WORK_LANE_COLUMNS,
  laneOfRow,
  readConsumers,
  replyOfRow,
} from './stored-work.ts';

const RECORDS_AT_ONCE = 1_000;
const ROWS_AT_ONCE = 500;
/** Bytes of replies after which a page ends. */
const REPLY_BYTES = 4 * 1024 * 1024;
/** Maximum number of manifests that are compared with the table; modules have far fewer. */
const MANIFESTS_MAX = 10_000;

const BEYOND_HEAD = {
  text: `SELECT s.slice, s.head FROM svc.slice s
  WHERE EXISTS (SELECT FROM svc.journal j WHERE j.slice = s.slice AND j.off > s.head)
    OR EXISTS (SELECT FROM svc.journal j WHERE j.slice = s.slice AND j.off < 1)`,
};
const REPLIES = {
  name: 'tool-replies',
  text: `SELECT ${REPLY_COLUMNS} FROM (
    SELECT r.*, sum(octet_length(r.outcome)) OVER (ORDER BY r.slice, r.component, r.id, r.key) - octet_length(r.outcome) AS before
    FROM (
      SELECT * FROM svc.reply r WHERE (r.slice, r.component, r.id, r.key) > ($1::int2, $2, $3, $4)
      ORDER BY r.slice, r.component, r.id, r.key LIMIT ${ROWS_AT_ONCE}
    ) r
  ) r WHERE r.before < ${REPLY_BYTES} ORDER BY r.slice, r.component, r.id, r.key`,
};
const TIMERS = {
  name: 'tool-timers',
  text: `SELECT ${TIMER_COLUMNS} FROM svc.timer t WHERE t.number > $1::bigint ORDER BY t.number LIMIT ${ROWS_AT_ONCE}`,
};
const TIMER_COUNTS = {
  text: `SELECT (SELECT sum(timers) FROM svc.timer_count)::text, count(*)::text, coalesce(max(number), 0)::text FROM svc.timer`,
};
const TIMER_NUMBER = { text: 'SELECT last_value::text FROM svc.timer_number' };
const LANES = {
  name: 'tool-lanes',
  text: `SELECT ${WORK_LANE_COLUMNS} FROM svc.lane
  WHERE (consumer, slice, component, id) > ($1, $2::int2, $3, $4)
  ORDER BY consumer, slice, component, id LIMIT ${ROWS_AT_ONCE}`,
};
const TYPES = { text: 'SELECT component, manifest FROM svc.event_type' };
const MODULES = { text: 'SELECT number, descriptor FROM svc.module ORDER BY number' };

/** Verifies a journal; the last step is the result. Rejects as DatabaseReader does. */
export async function* verifyDatabase(
  location: JournalInDatabase,
): AsyncGenerator<VerificationStep | VerificationResult, void> {
  const reader = new DatabaseReader(location);
  try {
    const verification = new JournalVerification(reader, await readEnds(reader));
    yield* verification.steps();
  } finally {
    reader.close();
  }
}

class JournalVerification {
  readonly #reader: DatabaseReader;
  readonly #ends: SliceEnds;
  /** The types of the events that were read, `component\nmanifest`. */
  readonly #types = new Set<string>();
  #records = 0;
  #entities = 0;
  #replies = 0;

  constructor(reader: DatabaseReader, ends: SliceEnds) {
    this.#reader = reader;
    this.#ends = ends;
  }

  async *steps(): AsyncGenerator<VerificationStep | VerificationResult, void> {
    let findings = 0;
    for (const part of [
      this.#recordSteps(),
      this.#numberSteps(),
      this.#replySteps(),
      this.#timerSteps(),
      this.#consumerSteps(),
      this.#moduleSteps(),
    ])
      for await (const step of part) {
        if (step.kind === 'finding') findings++;
        yield step;
      }
    yield {
      kind: 'result',
      records: this.#records,
      entities: this.#entities,
      answers: this.#replies,
      findings,
      structureChecked: undefined,
    };
  }

  async *#recordSteps(): AsyncGenerator<VerificationStep, void> {
    const total = sumOf(this.#ends);
    const records = new OrderedRecords(this.#reader, noRecords(), this.#ends);
    for (let isLast = false; !isLast;) {
      // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
      const page = await records.page(RECORDS_AT_ONCE);
      ({ isLast } = page);
      for (const entry of page.entries) {
        if (entry.kind === 'record') {
          this.#records++;
          const { component, record } = entry;
          if (record.kind === 'event' && this.#types.size < MANIFESTS_MAX)
            this.#types.add(`${component}\n${record.event.manifest}`);
          continue;
        }
        if (entry.isStored) this.#records++;
        yield findingOf(entry);
      }
      yield { kind: 'progress', what: 'records', done: sumOf(records.ends), total };
    }
    for (const [slice, head] of await this.#reader.query(BEYOND_HEAD))
      yield finding(
        `slice ${slice as number} has records beyond its numbers 1 to ${head as number}`,
      );
  }

  async *#numberSteps(): AsyncGenerator<VerificationStep, void> {
    for await (const { count, holes } of checkEntities(this.#reader, this.#ends)) {
      this.#entities += count;
      for (const entity of holes)
        yield { ...finding('the numbers of its records have a hole'), ...entity };
      yield { kind: 'progress', what: 'entities', done: this.#entities };
    }
    const types = await this.#reader.query(TYPES);
    for (const [component, manifest] of types as readonly (readonly [string, string])[])
      this.#types.delete(`${component}\n${manifest}`);
    for (const type of this.#types) {
      const [component, manifest] = type.split('\n') as [string, string];
      yield {
        ...finding(`the table of event types lacks '${manifest}', which records have`),
        component,
      };
    }
  }

  async *#replySteps(): AsyncGenerator<VerificationStep, void> {
    for await (const rows of this.#pages(REPLIES, [-1, '', '', ''], keyOf)) {
      this.#replies += rows.length;
      for (const entry of rows.map(replyOfRow)) if (entry.kind === 'finding') yield entry;
      yield { kind: 'progress', what: 'answers', done: this.#replies };
    }
  }

  async *#timerSteps(): AsyncGenerator<VerificationStep, void> {
    let count = 0;
    for await (const rows of this.#pages(TIMERS, [LOWEST], numberOf)) {
      for (const timer of rows.map(timerOfRow))
        if (timer instanceof SvcError) yield finding(timer.message);
      count += rows.length;
      yield { kind: 'progress', what: 'timers', done: count };
    }
    const [counts] = await this.#reader.query(TIMER_COUNTS);
    const [counted, stored, greatest] = counts as readonly [string, string, string];
    if (counted !== stored)
      yield finding(`the number of timers is counted as ${counted}, and there are ${stored}`);
    // Read later: a number is given before its timer is stored.
    const [[last]] = (await this.#reader.query(TIMER_NUMBER)) as [[string]];
    if (BigInt(last) < BigInt(greatest))
      yield finding(
        `the last number that was given to a timer is ${last}, and a timer has ${greatest}`,
      );
  }

  async *#consumerSteps(): AsyncGenerator<VerificationStep, void> {
    const consumers = await readConsumers(this.#reader);
    const heads = await readEnds(this.#reader);
    for (const consumer of consumers) {
      if (consumer.kind === 'finding') yield consumer;
      else if (consumer.ends.some((off, slice) => off > heads[slice]!))
        yield finding(`consumer '${consumer.id}' has settled events that are not there`);
    }
    for await (const rows of this.#pages(LANES, ['', -1, '', ''], keyOf))
      for (const entry of rows.map(laneOfRow)) if (entry.kind === 'finding') yield entry;
  }

  async *#moduleSteps(): AsyncGenerator<VerificationStep, void> {
    for (const [number, descriptor] of await this.#reader.query(MODULES))
      if (!isObject(descriptor as string))
        yield finding(`the descriptor of module ${number as number} is no JSON object`);
  }

  /** Yields pages of rows, each after the key of the last row of the one before. */
  async *#pages(
    statement: { readonly name: string; readonly text: string },
    first: readonly Parameter[],
    keyOf: (row: Row) => readonly unknown[],
  ): AsyncGenerator<readonly Row[], void> {
    for (let after = first; ;) {
      // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
      const rows = await this.#reader.query(statement, after);
      if (rows.length === 0) return;
      yield rows;
      after = keyOf(rows.at(-1)!) as readonly Parameter[];
    }
  }
}

/** The number of a timer that is before all others. */
const LOWEST = String(-(2n ** 63n));
const numberOf = (row: Row) => [row[NUMBER]];
/** The columns by which replies and lanes are in order. */
const keyOf = (row: Row) => row.slice(0, 4);

function finding(problem: string): JournalFinding {
  return { kind: 'finding', problem };
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
