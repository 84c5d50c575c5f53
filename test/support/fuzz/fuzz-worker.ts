// FuzzWorker: the thread that runs a campaign. Half of its inputs are new, half are made of earlier ones that
// reached what none before them had. An unguided campaign does not look what its inputs reach, which takes most of the time, and keeps
// some of them by chance.
import { setImmediate as turn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Random } from '../random.ts';
import { abiTarget } from './abi-target.ts';
import { admissionTarget } from './admission-target.ts';
import { BlockCoverage } from './block-coverage.ts';
import { type FuzzTarget, INPUT_BYTES_MAX, type TargetName } from './fuzz-target.ts';
import { http1Target } from './http1-target.ts';
import { remotingTarget } from './remoting-target.ts';
import { rewriterTarget } from './rewriter-target.ts';

export interface CampaignOrder {
  readonly target: TargetName;
  readonly seed: number;
  readonly rounds: number;
  readonly first: readonly Uint8Array[];
  readonly forMs: number | undefined;
  readonly isUnguided: boolean;
  readonly shared: SharedArrayBuffer;
}
export type CampaignReport =
  | { readonly kind: 'crasher'; readonly input: Uint8Array; readonly reason: string }
  | {
      readonly kind: 'done';
      readonly result: { readonly rounds: number; readonly kept: number; readonly blocks: number };
    };

const TARGETS: Readonly<Record<TargetName, () => FuzzTarget | Promise<FuzzTarget>>> = {
  admission: admissionTarget,
  rewriter: () => rewriterTarget,
  abi: abiTarget,
  http1: () => http1Target,
  remoting: () => remotingTarget,
};
const FRESH_PERCENT = 50;
const UNGUIDED_KEPT_PERCENT = 1;
const TURN_EVERY = 100;
/** Old ones make room. */
const KEPT_MAX = 2000;
/** One mistake that every input meets is told so often. */
const CRASHERS_MAX = 20;

async function runOrder(order: CampaignOrder, report: (what: CampaignReport) => void) {
  const { shared, seed, rounds, first, forMs } = order;
  const [state, current] = [new Int32Array(shared, 0, 2), new Uint8Array(shared, 8)];
  const target = await TARGETS[order.target]();
  const coverage = order.isUnguided ? undefined : new BlockCoverage(target.covers);
  const random = new Random(seed);
  const kept: Uint8Array[] = [];
  const startedAt = performance.now();
  let crashers = 0;
  let round = 0;
  for (; round < rounds && crashers < CRASHERS_MAX; round++) {
    if (forMs !== undefined && performance.now() - startedAt > forMs) break;
    // What an input has left for a later turn is done, or it would fill the memory.
    if (round % TURN_EVERY === 0) await turn();
    const input = first[round] ?? nextInput(target, random, kept);
    current.set(input.subarray(0, INPUT_BYTES_MAX));
    state[1] = Math.min(input.length, INPUT_BYTES_MAX);
    state[0] = round;
    try {
      await target.run(input);
    } catch (error) {
      crashers++;
      report({ kind: 'crasher', input, reason: reasonOf(error) });
    }
    const isKept =
      coverage === undefined ? random.chance(UNGUIDED_KEPT_PERCENT) : coverage.takeNew() > 0;
    if (isKept) kept.push(input);
    if (kept.length > KEPT_MAX) kept.splice(random.below(kept.length), 1);
  }
  report({
    kind: 'done',
    result: { rounds: round, kept: kept.length, blocks: coverage?.size ?? 0 },
  });
  coverage?.close();
}

function nextInput(target: FuzzTarget, random: Random, kept: readonly Uint8Array[]): Uint8Array {
  if (kept.length === 0 || random.chance(FRESH_PERCENT)) return target.fresh(random);
  return target.mutated(random, random.pick(kept), random.pick(kept));
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

if (parentPort !== null) {
  const port = parentPort;
  await runOrder(workerData as CampaignOrder, (what) => {
    port.postMessage(what);
  });
}
