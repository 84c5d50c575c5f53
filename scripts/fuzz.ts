// `npm run fuzz -- --minutes N [--seed S] [--target NAME]`: runs the fuzzer of test/hostile/fuzz.long.test.ts for N
// minutes, two targets at a time, each for a minute with a seed of its own. An input that violates a property is saved
// in fixtures/hostile/crashers/, where the test finds it, and the exit code is 1.
//
// `npm run fuzz -- --target NAME --inputs N [--seed S]`: runs N inputs of one target without a look at what they reach, and so far more of them
// in the same time.
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
const INPUTS_PER_SEED = 1_000_000;

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
  const compared = values.inputs === undefined ? Infinity : Number(values.inputs);
  // A number of inputs is the bound, unless a time is given as well.
  const forMs = compared === Infinity || minutes !== 1 ? minutes * 60_000 : Infinity;
  process.exit(await fuzzPeers({ inputs: compared, seed, forMs }));
}
const inputs = Number(values.inputs ?? 0);
const targets = TARGET_NAMES.filter((name) => name === (values.target ?? name));
const isUsable =
  minutes > 0 && Number.isSafeInteger(seed) && Number.isSafeInteger(inputs) && targets.length > 0;
if (!isUsable || (inputs > 0 && targets.length > 1)) {
  const one = TARGET_NAMES.join('|');
  process.stderr.write(
    `Usage: npm run fuzz -- --minutes N [--seed S] [--target ${one}]\n` +
      `       npm run fuzz -- --inputs N --target ${one} [--seed S]\n`,
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

/** Runs this many inputs of one target, each million with the next seed. */
async function fuzzInputs(target: TargetName): Promise<void> {
  for (let done = 0; done < inputs; done += INPUTS_PER_SEED) {
    const rounds = Math.min(INPUTS_PER_SEED, inputs - done);
    const sliceSeed = seed + done / INPUTS_PER_SEED;
    // oxlint-disable-next-line no-await-in-loop -- one thread runs them
    await runCampaign({ target, seed: sliceSeed, rounds, isUnguided: true, onCrasher });
    console.log(
      `${target} seed ${sliceSeed}: ${done + rounds} inputs in all, ${files.size} crashers`,
    );
  }
}

if (inputs > 0) {
  await fuzzInputs(targets[0]!);
  process.exit(files.size === 0 ? 0 : 1);
}
console.log(`fuzzing for ${minutes} minutes from seed ${seed}`);
await Promise.all(Array.from({ length: Math.min(TARGETS_AT_ONCE, targets.length) }, fuzzSlices));
process.exit(files.size === 0 ? 0 : 1);
