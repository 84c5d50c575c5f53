// shardLimits computes the share of one shard in the limits of the whole service. Limits on one call, one entity, one
// request or one instance are the same for each shard, whatever their number.
import type { ShardSections } from './shard-sections.ts';

const PER_SERVICE = {
  http: ['requestsInFlightMax', 'connectionsMax'],
  engine: ['liveEntitiesMax', 'unsettledBytesMax'],
  wasm: ['memoryBytesTotalMax', 'releasedBytesMax', 'endpointInstancesMax', 'waitingRequestsMax'],
  calls: ['inFlightMax', 'responseBytesTotalMax'],
  auth: ['cachedTokensMax'],
  log: ['linesPerSecond', 'bytesPerSecond', 'waitingBytesMax'],
} as const satisfies {
  readonly [Section in keyof ShardSections]?: readonly (keyof ShardSections[Section])[];
};

/** Returns the sections with the shares. Shares are rounded up, so that a limit that is not 0 never becomes 0. */
export function shardLimits<Sections extends ShardSections>(
  sections: Sections,
  count: number,
): Sections {
  if (count === 1) return sections;
  return {
    ...sections,
    http: shared(sections.http, PER_SERVICE.http, count),
    engine: shared(sections.engine, PER_SERVICE.engine, count),
    wasm: shared(sections.wasm, PER_SERVICE.wasm, count),
    calls: shared(sections.calls, PER_SERVICE.calls, count),
    auth: shared(sections.auth, PER_SERVICE.auth, count),
    log: shared(sections.log, PER_SERVICE.log, count),
  };
}

function shared<Name extends string, Section extends Readonly<Record<Name, number>>>(
  section: Section,
  names: readonly Name[],
  count: number,
): Section {
  const shares = names.map((name) => [name, Math.ceil(section[name] / count)]);
  return { ...section, ...Object.fromEntries(shares) };
}
