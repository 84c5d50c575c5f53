import { expect, test } from 'vitest';
import { SECTION_DEFAULTS } from '../../../host/service/section-settings.ts';
import { shardLimits } from '../../../host/shards/shard-limits.ts';

test('one shard has all that the service has', () => {
  expect(shardLimits(SECTION_DEFAULTS, 1)).toBe(SECTION_DEFAULTS);
});

test('of what the service may have each shard has a share, rounded up, and every other limit as it is', () => {
  const shares = shardLimits(SECTION_DEFAULTS, 3);
  const { http, engine, wasm, calls, auth, log } = SECTION_DEFAULTS;
  expect(shares).toEqual({
    ...SECTION_DEFAULTS,
    calls: { ...calls, inFlightMax: 86, responseBytesTotalMax: 22_369_622 },
    http: { ...http, requestsInFlightMax: 334, connectionsMax: 3_334 },
    engine: { ...engine, liveEntitiesMax: 33_334, unsettledBytesMax: 22_369_622 },
    wasm: {
      ...wasm,
      memoryBytesTotalMax: 715_827_883,
      releasedBytesMax: 89_478_486,
      endpointInstancesMax: 43,
      waitingRequestsMax: 342,
    },
    auth: { ...auth, cachedTokensMax: 3_334 },
    log: { ...log, linesPerSecond: 67, bytesPerSecond: 87_382, waitingBytesMax: 1_398_102 },
  });
});

test('no share is nothing, unless the whole is', () => {
  const { http, wasm } = SECTION_DEFAULTS;
  const sections = {
    ...SECTION_DEFAULTS,
    http: { ...http, requestsInFlightMax: 1 },
    wasm: { ...wasm, waitingRequestsMax: 0 },
  };
  const shares = shardLimits(sections, 256);
  expect(shares.http.requestsInFlightMax).toBe(1);
  expect(shares.wasm.waitingRequestsMax).toBe(0);
});
