// A process that answers with mutated frames: whatever it sends, each call of the runtime ends in time with a value or an error that has a name, and nothing
// grows. SVC_TEST_FRAMES sets how many frames it sends, and SVC_TEST_SEED which.
import { expect, test } from 'vitest';
import { createEmbeddedGuest } from '../../../../components/embedded-guest.ts';
import { components } from '../../../process-sdk/typescript/support/tally.ts';
import { fuzzRuntime } from '../../../support/process-fuzz/fuzzed-runtime.ts';
import { Random } from '../../../support/random.ts';

const { SVC_TEST_FRAMES: frames = '30000', SVC_TEST_SEED: seed = '1' } = process.env;
/** Growth of the process in the second half, at most: far less than a leak of a hundred bytes a frame of a long run. */
const GROWTH_MIB_MAX = 150;
const LANES = 64;
const MS_PER_FRAME = 5;
const MIB = 1024 * 1024;

const welcome = {
  welcome: {
    version: 1,
    sdk: 'scripted',
    instance: 'one',
    descriptor: JSON.stringify(createEmbeddedGuest(components).descriptor),
    fingerprint: 'one',
    window: { bytes: 4_194_304, calls: 100, frameBytes: 67_108_864 },
  },
};

const run = (half: number) =>
  fuzzRuntime({
    random: new Random(Number(seed) * 2 + half),
    frames: Number(frames) / 2,
    lanes: LANES,
    welcome,
  });

test(
  'the runtime answers each call, and goes on, whatever a process sends',
  async () => {
    const sinceMs = performance.now();
    const first = await run(0);
    const before = process.memoryUsage().rss / MIB;
    const second = await run(1);
    const after = process.memoryUsage().rss / MIB;
    const seconds = (performance.now() - sinceMs) / 1_000;
    console.log(
      `${first.frames + second.frames} frames on ${first.streams + second.streams} streams in ${seconds.toFixed(0)} s, ` +
        `${before.toFixed(0)} MiB after the first half and ${after.toFixed(0)} MiB after the second`,
    );
    expect(after - before).toBeLessThan(GROWTH_MIB_MAX);
  },
  MS_PER_FRAME * Number(frames) + 120_000,
);
