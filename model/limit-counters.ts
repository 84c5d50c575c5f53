// LimitCounters: counts faults by rule and limit, other failures by code, and the events of OTHER_COUNTS. Each shard
// has its own numbers, in memory that it shares with the main thread. The shard counts, except for its ends and hangs,
// which the main thread counts; so a number is written by one thread at a time. The main thread reads all numbers, and
// the counts survive the end of the shard.
import type { FaultCause } from './guest-fault.ts';
import { LIMIT_NAMES, type LimitName } from './limit-name.ts';
import { SVC_ERROR_CODES, type SvcErrorCode } from '@svc/kit/svc-error';

const FAULT_CAUSES: Readonly<Record<FaultCause, true>> = {
  trap: true,
  fuel: true,
  time: true,
  memory: true,
  stack: true,
  value: true,
  limit: true,
};
/**
 * Lines over the log's limits; unexpected ends and failed starts of the shard; those of the ends that were hangs; requests of
 * callers for whom there was no bucket.
 */
const OTHER_COUNTS = [
  'log-lines-not-written',
  'shard-ends',
  'shard-hangs',
  'limit-buckets-full',
] as const;

/** Name of a counter: `fault:trap`, `limit:command-fuel`, `failure:SVC_JOURNAL_FULL`, `shard-ends`. */
export type Counted =
  | `fault:${FaultCause}`
  | `limit:${LimitName}`
  | `failure:${SvcErrorCode}`
  | (typeof OTHER_COUNTS)[number];
export type LimitCounts = Readonly<Record<Counted, number>>;

/** Names of all counters, in the order of their numbers in memory. */
export const COUNTED: readonly Counted[] = [
  ...Object.keys(FAULT_CAUSES).map((cause) => `fault:${cause as FaultCause}` as const),
  ...LIMIT_NAMES.map((name) => `limit:${name}` as const),
  ...SVC_ERROR_CODES.map((code) => `failure:${code}` as const),
  ...OTHER_COUNTS,
];
const INDEXES: ReadonlyMap<Counted, number> = new Map(COUNTED.map((name, index) => [name, index]));

export class LimitCounters {
  /** Memory to create the other thread's LimitCounters with. */
  readonly shared: SharedArrayBuffer;
  readonly #numbers: Float64Array;

  constructor(shared = new SharedArrayBuffer(COUNTED.length * Float64Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#numbers = new Float64Array(shared);
  }

  count(name: Counted): void {
    const index = INDEXES.get(name);
    if (index !== undefined) this.#numbers[index]! += 1;
  }

  read(): LimitCounts {
    const entries = COUNTED.map((name, index) => [name, this.#numbers[index]!] as const);
    return Object.fromEntries(entries) as LimitCounts;
  }
}

/** Returns the sums of the counters. */
export function summedCounts(counters: readonly LimitCounters[]): LimitCounts {
  const counts = counters.map((each) => each.read());
  const entries = COUNTED.map(
    (name) => [name, counts.reduce((sum, each) => sum + each[name], 0)] as const,
  );
  return Object.fromEntries(entries) as LimitCounts;
}
