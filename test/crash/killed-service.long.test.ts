// A few rounds of `npm run crash`: the real process killed under load, and started again, with one shard and two.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { crashRounds } from '../support/crash/crash-rounds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a service that is killed again and again keeps what it has answered, with snapshots and without, with one shard and two', async () => {
  const scratch = temporaryFolder();
  const module = join(scratch, 'shopping-cart.wasm');
  writeFileSync(module, await compileFixture('shopping-cart'));
  const done = await crashRounds({ rounds: 6, seed: 4, module, scratch, shards: [1, 2] });
  expect(done.kills).toBe(6);
  expect(done.answered).toBeGreaterThan(100);
  expect(done.unanswered).toBeGreaterThan(10);
  expect(done.repeated).toBeGreaterThan(5);
  expect(done.snapshots).toBeGreaterThan(5);
}, 120_000);
