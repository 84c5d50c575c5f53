// Provisioning: what becomes of a request while nothing can be stored.
import { expect, test } from 'vitest';
import { Provisioning, type Authenticated } from '../../../control-plane/access/provisioning.ts';
import { noAccess } from '../../../control-plane/access/route-authorization.ts';
import { SYSTEM_CLOCK } from '../../../kit/clock.ts';
import { Ok, type Service } from '@svc/host';

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
  const provisioning = new Provisioning({
    running: Promise.resolve(running as unknown as Service),
    clock: SYSTEM_CLOCK,
    report: (what, error) => reported.push(`${what}: ${(error as Error).message}`),
  });
  const known = await provisioning.provision({ caller }, { metadata: () => undefined });
  expect(known).toEqual({ caller, claimFault: fault });
  expect(reported).toEqual([
    'The invitations of a caller were not claimed: the disk is full',
    'The profile of a caller was not stored: the disk is full',
  ]);
  expect(() => noAccess(known, 'no such organization')).toThrow(fault);
  expect(noAccess({ caller }, 'no such organization')).toMatchObject({ code: 'NOT_FOUND' });
});

function judged(name: string): Authenticated {
  return { caller: { subject: 'ann', name, emailVerified: false, platformAdmin: false } };
}

test('a profile that is stored is compared again once the token is judged again', async () => {
  const stored = { name: 'Ann', email: '' };
  const calls: string[] = [];
  const running = {
    call: () => ({
      async profile() {
        calls.push('profile');
        return new Ok(stored);
      },
      async see({ name }: { name: string }) {
        calls.push(`see ${name}`);
        stored.name = name;
        return new Ok(null);
      },
    }),
  };
  const provisioning = new Provisioning({
    running: Promise.resolve(running as unknown as Service),
    clock: SYSTEM_CLOCK,
    report: (what) => calls.push(what),
  });
  const provision = async (known: Authenticated) => {
    calls.length = 0;
    await provisioning.provision(known, { metadata: () => undefined });
    return [...calls];
  };
  const ann = judged('Ann');
  expect(await provision(ann)).toEqual(['profile']);
  expect(await provision(ann)).toEqual([]);
  expect(await provision(judged('Ann'))).toEqual(['profile']);
  const renamed = judged('Ann B.');
  expect(await provision(renamed)).toEqual(['profile', 'see Ann B.']);
  // Only a comparison shows that it is stored: the person may have changed too often.
  expect(await provision(renamed)).toEqual(['profile']);
  expect(await provision(renamed)).toEqual([]);
});
