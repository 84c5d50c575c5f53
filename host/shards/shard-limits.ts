// shardLimits: the share of one shard in what is allowed to the service as a whole. What is a limit on one call,
// one entity, one request or one instance is the same for each shard, whatever their number.
import type { RoomSettings } from '../service/section-settings.ts';

const PER_SERVICE = {
  http: ['requestsInFlightMax', 'connectionsMax'],
  engine: ['liveEntitiesMax', 'unsettledBytesMax'],
  wasm: ['memoryBytesTotalMax', 'endpointInstancesMax', 'waitingRequestsMax'],
  log: ['linesPerSecond', 'bytesPerSecond', 'waitingBytesMax'],
} as const satisfies {
  readonly [Room in keyof RoomSettings]?: readonly (keyof RoomSettings[Room])[];
};

/** Rounded up, so that a limit that is not 0 stays so. */
export function shardLimits(rooms: RoomSettings, count: number): RoomSettings {
  if (count === 1) return rooms;
  return {
    ...rooms,
    http: shared(rooms.http, PER_SERVICE.http, count),
    engine: shared(rooms.engine, PER_SERVICE.engine, count),
    wasm: shared(rooms.wasm, PER_SERVICE.wasm, count),
    log: shared(rooms.log, PER_SERVICE.log, count),
  };
}

function shared<Room extends Readonly<Record<string, number>>>(
  room: Room,
  names: readonly (keyof Room)[],
  count: number,
): Room {
  const shares = names.map((name) => [name, Math.ceil(room[name]! / count)]);
  return { ...room, ...Object.fromEntries(shares) };
}
