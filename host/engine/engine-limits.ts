// EngineLimits: what one engine holds at most, and what it lets a guest produce. Exceeding a limit
// on the guest is a GuestFault ('limit'); exceeding one on its callers is SVC_OVERLOADED.

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
}

const MIB = 1024 * 1024;

export const ENGINE_LIMITS_DEFAULT: EngineLimits = {
  callsPerEntityMax: 1_000,
  liveEntitiesMax: 100_000,
  eventsPerEffectMax: 10_000,
  eventBytesMax: MIB,
  effectBytesMax: 16 * MIB,
  replyBytesMax: 8 * MIB,
};
