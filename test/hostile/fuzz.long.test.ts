// A bounded run of the fuzzer with a fixed seed: `npm run fuzz` runs it for as long as one likes. What once
// broke a property is run first.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Random } from '../support/random.ts';
import { keepCrasher, keptCrashers, strayCrashers } from '../support/fuzz/crashers.ts';
import { runCampaign } from '../support/fuzz/fuzz-campaign.ts';
import type { TargetName } from '../support/fuzz/fuzz-target.ts';
import { unpaidPlaces } from '../support/fuzz/payment-walk.ts';
import { generateModule } from '../support/fuzz/wasm-grammar.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SEED = 2026;
/** On a machine that has much else to do; alone a few seconds each. */
const LONG = { timeout: 240_000 };

/** What is kept for the target is run first. */
async function fuzz(target: TargetName, rounds: number) {
  const first = keptCrashers(target);
  const result = await runCampaign({ target, seed: SEED, rounds: first.length + rounds, first });
  return { ...result, crashers: result.crashers.map(({ reason }) => reason) };
}

test(
  'whatever the bytes are, admission admits them or refuses them with a code',
  LONG,
  async () => {
    const { crashers, kept, blocks } = await fuzz('admission', 1000);
    expect(crashers).toEqual([]);
    expect(kept).toBeGreaterThan(100);
    expect(blocks).toBeGreaterThan(1000);
  },
);

test(
  'a rewritten module is valid, computes the same, pays everywhere, and ends',
  LONG,
  async () => {
    const { crashers, kept, blocks } = await fuzz('rewriter', 900);
    expect(crashers).toEqual([]);
    expect(kept).toBeGreaterThan(20);
    expect(blocks).toBeGreaterThan(300);
  },
);

test('whatever a module answers, the binding lifts it rightly or names a fault', LONG, async () => {
  const { crashers, kept, blocks } = await fuzz('abi', 700);
  expect(crashers).toEqual([]);
  expect(kept).toBeGreaterThan(50);
  expect(blocks).toBeGreaterThan(500);
});

test(
  'whatever the bytes are, requests are read as the reference reads them, at every split',
  LONG,
  async () => {
    const { crashers, kept, blocks } = await fuzz('http1', 3000);
    expect(crashers).toEqual([]);
    expect(kept).toBeGreaterThan(50);
    expect(blocks).toBeGreaterThan(200);
  },
);

test(
  'whatever another node sends, its frames are read at every split or refused with a reason',
  LONG,
  async () => {
    const { crashers, kept, blocks } = await fuzz('remoting', 3_000);
    expect(crashers).toEqual([]);
    expect(kept).toBeGreaterThan(50);
    expect(blocks).toBeGreaterThan(100);
  },
);

test('code that does not pay is noticed', () => {
  const module = generateModule(new Random(2), true);
  const places = unpaidPlaces({ bytes: module.bytes, fuelExport: 'steps', ownFunctions: 1 });
  expect(places).toContain('function 0, its entry');
});

test('every file among the crashers is run by a target', () => {
  expect(strayCrashers()).toEqual([]);
});

test('an input that broke a property is kept, and read again as it was', () => {
  const folder = join(temporaryFolder(), 'crashers');
  const input = Uint8Array.from({ length: 200 }, (_, index) => index);
  keepCrasher({ target: 'abi', input, reason: 'it broke\nat line 3' }, folder);
  expect(keptCrashers('abi', folder)).toEqual([input]);
  expect(keptCrashers('admission', folder)).toEqual([]);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'other.hex'), '00');
  expect(strayCrashers(folder)).toEqual(['other.hex']);
});
