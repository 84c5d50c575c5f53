// The programs of all SDKs are sent mutated transcripts, and must neither end, hang nor grow. SVC_TEST_FRAMES sets how many frames each is sent, and SVC_TEST_SEED
// which.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fuzzSdk } from '../support/process-fuzz/fuzzed-sdk.ts';
import { python } from '../support/python.ts';
import { Random } from '../support/random.ts';
import { servedProgram, type StartedProgram } from './support/served-program.ts';

const { SVC_TEST_FRAMES: frames = '30000', SVC_TEST_SEED: seed = '1' } = process.env;
const TYPESCRIPT = join(import.meta.dirname, 'typescript/support/conformance-program.ts');
const PYTHON = join(import.meta.dirname, 'python/support/conformance_program.py');
/** Growth of a program in the second half, at most: far less than a leak of a hundred bytes a frame. */
const GROWTH_MIB_MAX = 64;
const LANES = 4;
const MS_PER_FRAME = 5;

const residentMiB = ({ pid }: StartedProgram): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;

const STARTS: (readonly [string, () => Promise<StartedProgram>])[] = [
  // A heap that a leak would fill.
  ['TypeScript', () => servedProgram(process.execPath, '--max-old-space-size=160', TYPESCRIPT)],
];
if (python !== undefined) STARTS.push(['Python', () => servedProgram(python!, PYTHON)]);

test.each(STARTS)(
  'the SDK for %s answers mutated transcripts without an end, a pause or growth',
  async (sdk, start) => {
    const program = await start();
    onTestFinished(() => program.end());
    const { address } = program;
    const run = (half: number) =>
      fuzzSdk(address, {
        random: new Random(Number(seed) * 2 + half),
        frames: Number(frames) / 2,
        lanes: LANES,
        isRunning: () => program.isRunning(),
      });
    const sinceMs = performance.now();
    const first = await run(0);
    const before = residentMiB(program);
    const second = await run(1);
    const after = residentMiB(program);
    const seconds = (performance.now() - sinceMs) / 1_000;
    console.log(
      `${sdk}: ${first.frames + second.frames} frames on ${first.streams + second.streams} streams in ` +
        `${seconds.toFixed(0)} s, ${before.toFixed(0)} MiB after the first half and ${after.toFixed(0)} MiB after the second`,
    );
    expect(program.isRunning()).toBe(true);
    expect(after - before).toBeLessThan(GROWTH_MIB_MAX);
  },
  MS_PER_FRAME * Number(frames) + 120_000,
);
