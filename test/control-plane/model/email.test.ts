// Email: which of its pointers are in the way of another invitation, so that no request asks more organizations than it has to.
import { expect, test } from 'vitest';
import { email, POINTERS_OF_INVITER_MAX } from '../../../control-plane/model/email.ts';
import { POINTERS_MAX } from '../../../control-plane/model/pointers.ts';
import { accepted, startControlPlane } from '../control-plane-under-test.ts';

test('an inviter with too many invitations has only those in the way, and at a full address all are', async () => {
  const { call } = await startControlPlane();
  const address = call(email, 'bob@example.com');
  const inTheWay = async (to: string, inviter: string) =>
    accepted(await address.pointersInTheWay({ to, inviter })).map((pointer) => pointer.to);
  accepted(await address.point({ to: 'other', inviter: 'mia' }));
  for (let n = 0; n < POINTERS_OF_INVITER_MAX; n++)
    accepted(await address.point({ to: `shop${n}`, inviter: 'ann' }));
  expect(await inTheWay('next', 'mia')).toEqual([]);
  expect(await inTheWay('shop0', 'ann')).toEqual([]);
  expect(await inTheWay('next', 'ann')).toHaveLength(POINTERS_OF_INVITER_MAX);
  expect(await inTheWay('next', 'ann')).not.toContain('other');
  for (let n = POINTERS_OF_INVITER_MAX + 1; n < POINTERS_MAX; n++)
    accepted(await address.point({ to: `shop${n}`, inviter: `inviter${n}` }));
  expect(await inTheWay('next', 'mia')).toHaveLength(POINTERS_MAX);
});
