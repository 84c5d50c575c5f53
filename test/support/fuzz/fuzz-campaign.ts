// FuzzCampaign: fuzzes one target in a thread of its own, bounded in rounds or time, in memory, and in the
// time of each input: one that does not come back is a crasher like any other.
import { Worker } from 'node:worker_threads';
import { INPUT_BYTES_MAX, type TargetName } from './fuzz-target.ts';
import type { CampaignOrder, CampaignReport } from './fuzz-worker.ts';

export interface Crasher {
  readonly target: TargetName;
  readonly input: Uint8Array;
  readonly reason: string;
}

export interface Campaign {
  readonly target: TargetName;
  readonly seed: number;
  readonly rounds: number;
  /** Ends before its rounds are done. */
  readonly forMs?: number;
  /** Does not look what the inputs reach, and so runs a hundred times as many. */
  readonly isUnguided?: boolean;
  /** Inputs to run before any other. */
  readonly first?: readonly Uint8Array[];
  readonly onCrasher?: (crasher: Crasher) => void;
}

export interface CampaignResult {
  readonly rounds: number;
  /** Inputs that reached what none before them had. */
  readonly kept: number;
  /** Blocks of the host's code, by how often they ran; 0 if nobody looked. */
  readonly blocks: number;
  readonly crashers: readonly Crasher[];
}

/** Far beyond what any input takes, on a machine that has much else to do. */
const INPUT_TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 1000;
const HEAP_MIB = 768;

export async function runCampaign(campaign: Campaign): Promise<CampaignResult> {
  const { target, seed, rounds, first = [], forMs, isUnguided = false } = campaign;
  const crashers: Crasher[] = [];
  const found = (input: Uint8Array, reason: string) => {
    crashers.push({ target, input, reason });
    campaign.onCrasher?.({ target, input, reason });
  };
  /** What the thread is at: the round, the length of its input, and the input. */
  const shared = new SharedArrayBuffer(8 + INPUT_BYTES_MAX);
  const [state, current] = [new Int32Array(shared, 0, 2), new Uint8Array(shared, 8)];
  const order: CampaignOrder = { target, seed, rounds, first, forMs, isUnguided, shared };
  const worker = new Worker(new URL('fuzz-worker.ts', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  const result = { rounds: 0, kept: 0, blocks: 0 };
  const present = () => Uint8Array.from(current.subarray(0, state[1]));
  let seen = -1;
  let seenAt = performance.now();
  const watch = setInterval(() => {
    if (state[0] !== seen) [seen, seenAt] = [state[0]!, performance.now()];
    else if (performance.now() - seenAt > INPUT_TIMEOUT_MS) {
      found(present(), 'it does not come back');
      void worker.terminate();
    }
  }, LOOK_EVERY_MS);
  worker.on('message', (report: CampaignReport) => {
    if (report.kind === 'crasher') found(report.input, report.reason);
    else Object.assign(result, report.result);
  });
  await new Promise<void>((done) => {
    worker.on('error', (error: Error) => {
      found(present(), `the thread ended: ${error.message}`);
    });
    worker.on('exit', () => {
      done();
    });
  });
  clearInterval(watch);
  return { ...result, crashers };
}
