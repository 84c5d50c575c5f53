// Entrance: what becomes of a request while nothing can be stored.
import { expect, test } from 'vitest';
import { Entrance } from '../../../control-plane/access/entrance.ts';
import { noAccess } from '../../../control-plane/access/gates.ts';
import { SYSTEM_CLOCK } from '../../../control-plane/clock.ts';
import type { Service } from '@svc/host';

test('a caller is known though nothing can be stored, and is no stranger for certain', async () => {
  const fault = new Error('the disk is full');
  const running = { call: () => ({ organizationsAfter: rejecting, profile: rejecting }) };
  async function rejecting(): Promise<never> {
    throw fault;
  }
  const reported: string[] = [];
  const caller = {
    subject: 'ann',
    email: 'ann@example.com',
    emailVerified: true,
    platformAdmin: false,
  };
  const entrance = new Entrance({
    judge: { judge: async () => ({ kind: 'known', caller }) },
    running: Promise.resolve(running as unknown as Service),
    clock: SYSTEM_CLOCK,
    report: (what, error) => reported.push(`${what}: ${(error as Error).message}`),
  });
  const known = await entrance.welcome({ caller }, { metadata: () => undefined });
  expect(known).toEqual({ caller, claimFault: fault });
  expect(reported).toEqual([
    'The invitations of a caller were not claimed: the disk is full',
    'The profile of a caller was not stored: the disk is full',
  ]);
  expect(() => noAccess(known, 'no such organization')).toThrow(fault);
  expect(noAccess({ caller }, 'no such organization')).toMatchObject({ code: 'NOT_FOUND' });
});
