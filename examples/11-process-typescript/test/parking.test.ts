// The parking spaces in a service of the test, whose journal is in memory and whose clock the test moves.
import { createService } from '@svc/host';
import { SeededRandom, TestJournal, VirtualClock } from '@svc/host/testing';
import { expect, onTestFinished, test } from 'vitest';
import { components } from '../src/components.ts';
import { space } from '../src/space.ts';

async function parking() {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1));
  const service = await createService({
    name: 'parking',
    ...components,
    journal: 'memory',
    log: 'none',
    testing: { clock, random: new SeededRandom(7n), journal: new TestJournal() },
  });
  onTestFinished(() => service.stop(0));
  return { clock, service, first: service.call(space, '1') };
}

test('a space that a car has is refused to others, until the car leaves', async () => {
  const { first } = await parking();
  await first.park({ plate: 'B-XY 12', seconds: 60 });
  expect(await first.park({ plate: 'M-AB 7', seconds: 60 })).toMatchObject({
    isOk: false,
    code: 'CONFLICT',
    message: 'B-XY 12 has this space',
  });
  await first.leave();
  expect(await first.park({ plate: 'M-AB 7', seconds: 60 })).toMatchObject({
    value: { plate: 'M-AB 7', cars: 2 },
  });
});

test('a space becomes free when its time is over', async () => {
  const { clock, first } = await parking();
  await first.park({ plate: 'B-XY 12', seconds: 60 });
  await clock.advance(59_000);
  expect(await first.get()).toMatchObject({ value: { plate: 'B-XY 12' } });
  await clock.advance(1000);
  expect(await first.get()).toMatchObject({ value: { plate: '', cars: 1 } });
});

test('a car that parks again gets its time from now on', async () => {
  const { clock, first, service } = await parking();
  await first.park({ plate: 'B-XY 12', seconds: 60 });
  await clock.advance(30_000);
  await first.park({ plate: 'B-XY 12', seconds: 60 });
  await clock.advance(40_000);
  expect(await first.get()).toMatchObject({ value: { plate: 'B-XY 12', cars: 1 } });
  await clock.advance(20_000);
  const events = await service.readEvents(space, '1');
  expect(events.map(({ event }) => event.type)).toEqual(['parked', 'extended', 'left']);
});
