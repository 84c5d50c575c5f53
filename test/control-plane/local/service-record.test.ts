// What is stored of a service when something else is asked for: which image it keeps.
import { expect, test } from 'vitest';
import {
  apartImageOf,
  recordAfter,
  recordOf,
  type ServiceRecord,
  ServiceRecords,
} from '../../../control-plane/local/service-record.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { cart } from './cart.ts';

const NOW = { bootId: 'boot', ms: 1 };
const IMAGE = { digest: 'sha256:1', moduleFile: '/modules/1.wasm', name: 'cart:1' };
const found = { ...recordOf(cart('cart:1', 3), NOW), image: IMAGE, isComplete: true };

test('a restart keeps the image of its apply, and the next restart too', () => {
  const restarted = recordAfter(found, cart('cart:1', 4, { appliedGeneration: 3 }), NOW);
  expect(restarted).toMatchObject({ image: IMAGE, isComplete: false });
  const again = recordAfter(restarted, cart('cart:1', 5, { appliedGeneration: 3 }), NOW);
  expect(again.image).toEqual(IMAGE);
});

test('an image that runs apart does so after a restart, and is tried anew by an apply', () => {
  const apart = { ...found, isApart: true };
  expect(recordAfter(apart, cart('cart:1', 4, { appliedGeneration: 3 }), NOW).isApart).toBe(true);
  expect(apartImageOf(apart)).toBe(IMAGE.digest);
  const applied = recordAfter(apart, cart('cart:1', 4), NOW);
  expect(applied.isApart).toBeUndefined();
  expect(apartImageOf({ ...applied, image: IMAGE })).toBeUndefined();
});

test.each([
  ['an apply of the same descriptor', cart('cart:1', 4)],
  ['an apply of another image', cart('cart:2', 4)],
  [
    'a lower generation, as after a restore of a backup',
    cart('cart:1', 2, { appliedGeneration: 3 }),
  ],
])('%s has to find its image, and may find that of the generation before', (_what, desired) => {
  const applied = recordAfter(found, desired, NOW);
  expect(applied.image).toBeUndefined();
  expect(applied.formerImage).toEqual(IMAGE);
  expect(recordAfter(applied, cart('cart:1', 7), NOW).formerImage).toEqual(IMAGE);
});

test('a restart after an apply whose image was not found looks for it', () => {
  const applied = recordAfter(found, cart('cart:2', 4), NOW);
  const restarted = recordAfter(applied, cart('cart:2', 5, { appliedGeneration: 4 }), NOW);
  expect(restarted.image).toBeUndefined();
  expect(restarted.formerImage).toEqual(IMAGE);
});

test('a service that is applied after a deletion keeps nothing', () => {
  const another = recordAfter(found, cart('cart:1', 4, { incarnation: 'life2' }), NOW);
  expect(another).toEqual(recordOf(another.desired, NOW));
  const removed = recordAfter(found, { kind: 'removed', key: found.desired.key }, NOW);
  expect(removed).toEqual(recordOf(removed.desired, NOW));
});

test('a record of an earlier version is read, and one with something else in place of a version is not', () => {
  const records = new ServiceRecords(temporaryFolder());
  records.write(found);
  expect(records.readAll()).toEqual([found]);
  const refused = { ...found, image: { ...IMAGE, runtime: '1.5.0' }, refusal: 'is too new' };
  records.write(refused);
  expect(records.readAll()).toEqual([refused]);
  for (const foreign of [{ image: { ...IMAGE, runtime: 15 } }, { refusal: true }]) {
    records.write({ ...found, ...foreign } as unknown as ServiceRecord);
    expect(records.readAll()).toEqual([]);
  }
});
