// A few rounds of `npm run crash`: the real process killed under load, and started again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { crashRounds } from '../support/crash/crash-rounds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a service that is killed again and again keeps what it has answered, and answers repeats alike', async () => {
  const scratch = temporaryFolder();
  const module = join(scratch, 'shopping-cart.wasm');
  writeFileSync(module, await compileFixture('shopping-cart'));
  const done = await crashRounds({ rounds: 5, seed: 4, module, scratch });
  expect(done.kills).toBe(5);
  expect(done.answered).toBeGreaterThan(100);
  expect(done.unanswered).toBeGreaterThan(10);
  expect(done.repeated).toBeGreaterThan(5);
}, 120_000);
