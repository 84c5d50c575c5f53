// EngineLimits are the limits of one engine: on what it holds, and on what a guest may produce. A guest that exceeds a limit
// has a GuestFault ('limit'); events that exceed a limit are refused; callers that exceed a limit get SVC_OVERLOADED.

export interface EngineLimits {
  /** The number of commands and queries of one entity that wait for their answer. */
  readonly callsPerEntityMax: number;
  /** The number of entities in memory. Idle entities above it are closed, least recently used first. */
  readonly liveEntitiesMax: number;
  /** The number of events of one command. */
  readonly eventsPerEffectMax: number;
  /** UTF-8 bytes of one event's JSON text. */
  readonly eventBytesMax: number;
  /** UTF-8 bytes of the JSON texts of all events of one command. */
  readonly effectBytesMax: number;
  /** UTF-8 bytes of a reply, of a refusal's message, and of its details. */
  readonly replyBytesMax: number;
  /**
   * One of this many commands and queries is checked not to change the state that it was given, and fewer after one with a state
   * of more than 8 KiB; 0 checks none. A run on a developer's machine checks all of them, unless this is 0.
   */
  readonly purityCheckInterval: number;
  /**
   * One of this many entities that come into memory is compared with a fresh fold of its events when it leaves; 0 compares
   * none. A run on a developer's machine compares all of them, unless this is 0.
   */
  readonly purityRefoldInterval: number;
  /** Most events of an entity that is compared in this way, and of all that are compared at a stop. */
  readonly purityRefoldEventsMax: number;
  /**
   * How long folding the events of one entity may take when it is loaded into memory, in milliseconds,
   * without waiting.
   */
  readonly replayTimeoutMs: number;
  /** Consecutive faults after which an entity whose events could not be folded backs off. */
  readonly entityFaultsMax: number;
  /** First pause of an entity that backs off, in milliseconds; it doubles each time that folding fails again. */
  readonly entityPauseMs: number;
  /** Longest of these pauses, in milliseconds. */
  readonly entityPauseMaxMs: number;
  /**
   * Memory of the events that wait for the disk, and of the replies that wait for them, in bytes. Above it commands fail
   * with SVC_OVERLOADED before they are decided, and so do queries that would have to wait.
   */
  readonly unsettledBytesMax: number;
  /** How long the reply to a command with an idempotency key is stored and repeated, in milliseconds. */
  readonly idempotencyRetentionMs: number;
  /** Time after which an entity without calls is removed from memory, in milliseconds; 0: never. */
  readonly idleTimeoutMs: number;
  /**
   * Events of an entity after which a snapshot of its state is stored, so that not all of them are folded again;
   * 0: no snapshots are stored or used.
   */
  readonly snapshotIntervalEvents: number;
  /** Most UTF-8 bytes of a snapshot's state. */
  readonly snapshotBytesMax: number;
}

const MIB = 1024 * 1024;

export const ENGINE_LIMITS_DEFAULT: EngineLimits = {
  callsPerEntityMax: 1_000,
  liveEntitiesMax: 100_000,
  eventsPerEffectMax: 10_000,
  eventBytesMax: MIB,
  effectBytesMax: 16 * MIB,
  replyBytesMax: 8 * MIB,
  // A prime, so that each call of a repeating load is checked in time.
  purityCheckInterval: 997,
  purityRefoldInterval: 100,
  purityRefoldEventsMax: 10_000,
  replayTimeoutMs: 60_000,
  entityFaultsMax: 3,
  entityPauseMs: 1_000,
  entityPauseMaxMs: 300_000,
  unsettledBytesMax: 64 * MIB,
  idempotencyRetentionMs: 86_400_000,
  idleTimeoutMs: 600_000,
  snapshotIntervalEvents: 500,
  snapshotBytesMax: 4 * MIB,
};

/** The smallest and the largest value of each limit. */
export const ENGINE_LIMITS_RANGE: Readonly<Record<keyof EngineLimits, readonly [number, number]>> =
  {
    callsPerEntityMax: [1, 1_000_000],
    liveEntitiesMax: [1, 100_000_000],
    eventsPerEffectMax: [1, 1_000_000],
    eventBytesMax: [64, 1024 * MIB],
    effectBytesMax: [64, 1024 * MIB],
    replyBytesMax: [64, 1024 * MIB],
    purityCheckInterval: [0, Number.MAX_SAFE_INTEGER],
    purityRefoldInterval: [0, Number.MAX_SAFE_INTEGER],
    purityRefoldEventsMax: [0, Number.MAX_SAFE_INTEGER],
    replayTimeoutMs: [1, 86_400_000],
    entityFaultsMax: [1, 1_000_000],
    entityPauseMs: [1, 86_400_000],
    entityPauseMaxMs: [1, 86_400_000],
    unsettledBytesMax: [1, 16_384 * MIB],
    idempotencyRetentionMs: [1_000, 31_536_000_000],
    idleTimeoutMs: [0, 86_400_000],
    snapshotIntervalEvents: [0, 1_000_000_000],
    snapshotBytesMax: [0, 1024 * MIB],
  };

/** The limits for a run on a developer's machine, where every call and every entity is checked. */
export function developerLimits(limits: EngineLimits): EngineLimits {
  return {
    ...limits,
    purityCheckInterval: Math.min(limits.purityCheckInterval, 1),
    purityRefoldInterval: Math.min(limits.purityRefoldInterval, 1),
  };
}
