// `npm run fuzz -- --minutes N [--seed S] [--target NAME]`: runs the fuzzer of test/hostile/fuzz.long.test.ts for N
// minutes, two targets at a time, each for a minute with a seed of its own. An input that violates a property is saved
// in fixtures/hostile/crashers/, where the test finds it, and the exit code is 1.
//
// `npm run fuzz -- --target peers --inputs N [--minutes N] [--seed S]`: compares servers of others behind the proxy.
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { keepCrasher, keptCrashers } from '../test/support/fuzz/crashers.ts';
import { type Crasher, runCampaign } from '../test/support/fuzz/fuzz-campaign.ts';
import { TARGET_NAMES, type TargetName } from '../test/support/fuzz/fuzz-target.ts';
import { fuzzPeers } from './fuzz-peers.ts';

const TARGETS_AT_ONCE = 2;
/** Maximum time for which a target is fuzzed with one seed, in milliseconds. */
const SLICE_MS = 60_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    target: { type: 'string' },
    inputs: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (values.target === 'peers') {
  const inputs = values.inputs === undefined ? Infinity : Number(values.inputs);
  // A number of inputs is the bound, unless a time is given as well.
  const forMs = inputs === Infinity || minutes !== 1 ? minutes * 60_000 : Infinity;
  process.exit(await fuzzPeers({ inputs, seed, forMs }));
}
const targets = TARGET_NAMES.filter((name) => name === (values.target ?? name));
if (!(minutes > 0) || !Number.isSafeInteger(seed) || targets.length === 0) {
  process.stderr.write(
    `Usage: npm run fuzz -- --minutes N [--seed S] [--target ${TARGET_NAMES.join('|')}]\n`,
  );
  process.exit(2);
}

const endsAt = performance.now() + minutes * 60_000;
/** Paths of the inputs that this run has saved. */
const files = new Set<string>();
const onCrasher = (crasher: Crasher) => {
  const file = relative(process.cwd(), keepCrasher(crasher));
  files.add(file);
  process.stderr.write(`${crasher.target}: ${crasher.reason}\n  saved as ${file}\n`);
};

/** Fuzzes a target for one slice of time, or for the rest of the time. */
async function fuzzSlice(target: TargetName, sliceSeed: number): Promise<void> {
  const forMs = Math.min(SLICE_MS, endsAt - performance.now());
  const first = keptCrashers(target);
  const { rounds, kept, blocks } = await runCampaign({
    target,
    seed: sliceSeed,
    rounds: Number.MAX_SAFE_INTEGER,
    forMs,
    first,
    onCrasher,
  });
  console.log(
    `${target.padEnd(9)} seed ${sliceSeed}: ${rounds} inputs, ${kept} kept, ${blocks} blocks, ${files.size} crashers`,
  );
}

let slice = 0;
/** Fuzzes the targets in turn, one slice after the other, until the time is up. */
async function fuzzSlices(): Promise<void> {
  while (performance.now() < endsAt) {
    const index = slice++;
    await fuzzSlice(targets[index % targets.length]!, seed + index);
  }
}

console.log(`fuzzing for ${minutes} minutes from seed ${seed}`);
await Promise.all(Array.from({ length: Math.min(TARGETS_AT_ONCE, targets.length) }, fuzzSlices));
process.exit(files.size === 0 ? 0 : 1);
