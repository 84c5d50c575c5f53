// An entity that is opened alone does not affect those in other instances.
import { expect, test } from 'vitest';
import { counter } from '../support/counter.ts';
import { CONTEXT, entityRef, faultOf, liveGuest } from '../support/live-guest.ts';

test('an entity that is opened alone is lost with no other, and no other with it', async () => {
  const { entities } = await liveGuest(counter);
  const before = await entities.open(entityRef('before'), undefined);
  const alone = await entities.open(entityRef('alone'), undefined, true);
  const after = await entities.open(entityRef('after'), undefined);
  const second = await entities.open(entityRef('second'), undefined, true);
  await faultOf(() => second.command(CONTEXT, 'trap', ''));
  expect([before, alone, after, second].map(({ lost }) => lost)).toEqual([
    false,
    false,
    false,
    true,
  ]);
  await faultOf(() => before.command(CONTEXT, 'trap', ''));
  expect([before, alone, after].map(({ lost }) => lost)).toEqual([true, false, true]);
  const later = await entities.open(entityRef('later'), undefined);
  await faultOf(() => alone.command(CONTEXT, 'trap', ''));
  expect(later.lost).toBe(false);
});
