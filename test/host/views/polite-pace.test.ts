import { expect, test } from 'vitest';
import { PolitePace } from '../../../host/views/polite-pace.ts';

test('a building rests as long as it worked while others work, and not at all otherwise', async () => {
  let nowMs = 0;
  let othersMs = 0;
  const rests: number[] = [];
  const sleep = async (ms: number) => void rests.push(ms);
  const pace = new PolitePace({ nowMs: () => nowMs, othersMs: () => othersMs, sleep });
  nowMs = 100;
  othersMs = 50;
  await pace.rest(100);
  nowMs = 200;
  othersMs = 59;
  await pace.rest(100);
  nowMs = 300;
  othersMs = 80;
  await pace.rest(70);
  expect(rests).toEqual([100, 0, 70]);
});
