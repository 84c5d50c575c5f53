// EngineLimits: what one engine holds at most, and what it lets a guest produce. Exceeding a limit
// on the guest is a GuestFault ('limit'), events over theirs are a refusal; exceeding one on its callers is
// SVC_OVERLOADED.

export interface EngineLimits {
  /** Commands and queries of one entity that wait for their answer. */
  readonly callsPerEntityMax: number;
  /** Entities in memory. Idle ones beyond it are closed, least recently used first. */
  readonly liveEntitiesMax: number;
  /** Events of one command. */
  readonly eventsPerEffectMax: number;
  /** UTF-8 bytes of one event's JSON text. */
  readonly eventBytesMax: number;
  /** UTF-8 bytes of the JSON texts of all events of one command. */
  readonly effectBytesMax: number;
  /** UTF-8 bytes of a reply, and of a refusal's message and of its details. */
  readonly replyBytesMax: number;
  /**
   * Of this many commands and queries one is checked not to change the state it was given; 0 checks
   * none. A run on a developer's machine checks each, unless this is 0.
   */
  readonly purityCheckInterval: number;
  /**
   * Of this many entities that come into memory one is compared with a fresh fold of its events when
   * it leaves; 0 compares none. A run on a developer's machine compares each, unless this is 0.
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
   * Memory of events that wait for the disk and of the replies that are answered only after them, in bytes; beyond it
   * commands fail with SVC_OVERLOADED before they are decided, and so do queries that would have to wait.
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
  // A prime, so that a load that repeats itself has each of its calls looked at in time.
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

/** The least and the most that each can be set to. */
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

/** The same for a run on a developer's machine: what is checked of some calls is checked of all. */
export function developerLimits(limits: EngineLimits): EngineLimits {
  return {
    ...limits,
    purityCheckInterval: Math.min(limits.purityCheckInterval, 1),
    purityRefoldInterval: Math.min(limits.purityRefoldInterval, 1),
  };
}
