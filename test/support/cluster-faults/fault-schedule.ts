// FaultSchedule draws the faults of a cluster from a seed: which, of what, when, and for how long. Faults of different targets overlap; one target has
// one fault at a time.
//
// Invariant: the schedule is a function of its options, so that a seed repeats it.
import { CLOCK_DIFFERENCE_MAX_MS } from '../../../host/storage/postgres/nodes/clock-check.ts';
import { Random } from '../random.ts';

/** Faults of the process of a node. */
export type NodeFault =
  /** Killed, and started again after a time. `again`: the new process is killed after so many milliseconds, and started once more. */
  | { readonly kind: 'kill'; readonly node: number; readonly again?: number }
  /** Ended by SIGTERM, and started again. */
  | { readonly kind: 'restart'; readonly node: number }
  /** Stopped for a time. */
  | { readonly kind: 'stop'; readonly node: number }
  /** Stopped for a time, which its monotonic clock does not show. */
  | { readonly kind: 'suspend'; readonly node: number };

/** The wall clock of a node is set by some milliseconds, and set back after a time. */
export interface ClockFault {
  readonly kind: 'clock';
  readonly node: number;
  readonly byMs: number;
}

/**
 * What happens to connections. Those that are held stay open, and let nothing through in one direction or in both. Half-open ones end on one side, and
 * only the side that is named believes that it is open.
 */
export type CutKind =
  | 'hold requests'
  | 'hold answers'
  | 'hold both'
  | 'delay'
  | 'reset'
  | 'refuse'
  | 'half-open client'
  | 'half-open server';

/** Connections between two nodes, in whichever direction they were made. Requests are what `from` sends. */
export interface LinkFault {
  readonly kind: 'link';
  readonly from: number;
  readonly to: number;
  readonly cut: CutKind;
}

/** Connections of a node to the database. */
export interface DatabaseLinkFault {
  readonly kind: 'database link';
  readonly node: number;
  readonly cut: CutKind;
}

export type DatabaseFault =
  | { readonly kind: 'database restart'; readonly end: 'kill' | 'fast' | 'immediate' }
  | { readonly kind: 'database pause' }
  | { readonly kind: 'standby cut' }
  | { readonly kind: 'failover'; readonly former: 'killed' | 'paused' | 'running' };

export type Fault = NodeFault | ClockFault | LinkFault | DatabaseLinkFault | DatabaseFault;

export type ScheduledFault = Fault & {
  /** After the beginning. */
  readonly atMs: number;
  readonly forMs: number;
};

export interface ScheduleOptions {
  readonly seed: number;
  readonly nodes: number;
  /** No fault begins later. */
  readonly lengthMs: number;
}

/** Longest pause between the beginnings of two faults. */
const PAUSE_MS_MAX = 2_500;
/** Some faults are shorter than a lease, and some longer. */
const SHORT_MS_MAX = 1_500;
const LONG_MS = { min: 3_000, max: 9_000 };
const DELAY_MS_MAX = 400;
/** A rolling restart begins with the next node after so long. */
const ROLLING_MS = 6_000;
/** The database serves between two of its faults for at least so long, since it takes all nodes with it. */
const DATABASE_REST_MS = 6_000;
/** How far clocks are from the true time. */
const CLOCKS_MS = [-3_600_000, -7_000, -900, 900, 4_000, 7_000, 3_600_000];
const CUTS: readonly CutKind[] = [
  'hold requests',
  'hold answers',
  'hold both',
  'delay',
  'reset',
  'refuse',
  'half-open client',
  'half-open server',
];

/** Returns the faults in the order in which they begin. */
export function faultSchedule({
  seed,
  nodes,
  lengthMs,
}: ScheduleOptions): readonly ScheduledFault[] {
  const random = new Random(seed);
  const busyUntilMs = new Map<string, number>();
  const faults: ScheduledFault[] = [];
  for (let atMs = random.below(PAUSE_MS_MAX); atMs < lengthMs; atMs += random.below(PAUSE_MS_MAX)) {
    for (const drawn of drawnFaults(random, nodes, atMs)) {
      const target = targetOf(drawn);
      if ((busyUntilMs.get(target) ?? 0) > drawn.atMs || drawn.atMs >= lengthMs) continue;
      const restMs = target === 'database' ? DATABASE_REST_MS : 0;
      busyUntilMs.set(target, drawn.atMs + drawn.forMs + restMs);
      faults.push(drawn);
    }
  }
  return faults.toSorted((a, b) => a.atMs - b.atMs);
}

/** Returns how far the clock of the standby is from that of the primary, in milliseconds: no further than nodes bear. */
export function standbyClockMs(seed: number): number {
  const borne = CLOCKS_MS.filter((ms) => Math.abs(ms) < CLOCK_DIFFERENCE_MAX_MS);
  return new Random(seed).pick(borne);
}

/** Returns the name of what a fault changes. */
export function targetOf(fault: Fault): string {
  switch (fault.kind) {
    case 'clock':
      return `clock of node ${fault.node}`;
    case 'link':
      return `link of nodes ${Math.min(fault.from, fault.to)} and ${Math.max(fault.from, fault.to)}`;
    case 'database link':
      return `database link of node ${fault.node}`;
    case 'kill':
    case 'restart':
    case 'stop':
    case 'suspend':
      return `node ${fault.node}`;
    case 'database restart':
    case 'database pause':
    case 'standby cut':
    case 'failover':
      return 'database';
  }
}

/** Writes a fault as one line. */
export function faultText({ atMs, forMs, ...fault }: ScheduledFault): string {
  const { kind, ...rest } = fault;
  const words = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  return `${(atMs / 1_000).toFixed(3)} s: ${[kind, ...words].join(', ')}, for ${forMs} ms`;
}

/** A rolling restart is several faults, everything else is one. */
function drawnFaults(random: Random, nodes: number, atMs: number): readonly ScheduledFault[] {
  const forMs = random.chance(50)
    ? 50 + random.below(SHORT_MS_MAX)
    : LONG_MS.min + random.below(LONG_MS.max - LONG_MS.min);
  const node = random.below(nodes);
  const times = { atMs, forMs };
  const chance = random.below(100);
  if (chance < 18) {
    const again = random.chance(25) ? { again: random.below(SHORT_MS_MAX) } : {};
    return [{ ...times, kind: 'kill', node, ...again }];
  }
  if (chance < 24) return [{ ...times, kind: 'restart', node }];
  if (chance < 27)
    return Array.from({ length: nodes }, (_, index) => ({
      kind: 'restart',
      node: (node + index) % nodes,
      atMs: atMs + index * ROLLING_MS,
      forMs,
    }));
  if (chance < 36) return [{ ...times, kind: 'stop', node }];
  if (chance < 43) return [{ ...times, kind: 'suspend', node }];
  if (chance < 51) return [{ ...times, kind: 'clock', node, byMs: random.pick(CLOCKS_MS) }];
  const cut = random.pick(CUTS);
  if (chance < 68) {
    const to = (node + 1 + random.below(nodes - 1)) % nodes;
    return [{ ...times, kind: 'link', from: node, to, cut }];
  }
  if (chance < 82) return [{ ...times, kind: 'database link', node, cut }];
  return [{ ...times, ...databaseFault(random) }];
}

function databaseFault(random: Random): DatabaseFault {
  const chance = random.below(100);
  if (chance < 30)
    return { kind: 'database restart', end: random.pick(['kill', 'fast', 'immediate'] as const) };
  if (chance < 50) return { kind: 'database pause' };
  if (chance < 65) return { kind: 'standby cut' };
  return { kind: 'failover', former: random.pick(['killed', 'paused', 'running'] as const) };
}

/** Returns by how much a delayed connection is late, the same for each fault. */
export function delayOf({ forMs }: ScheduledFault): number {
  return 1 + (forMs % DELAY_MS_MAX);
}
