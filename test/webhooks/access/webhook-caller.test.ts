// What of the claims of a good token makes a caller of the webhook service.
import { expect, test } from 'vitest';
import { callerOf, type Caller } from '../../../webhooks/access/webhook-caller.ts';

const CLAIMS = {
  tenantsPath: ['tenants'],
  rolesPath: ['realm_access', 'roles'],
  adminRole: 'tenant-admin',
  platformRole: 'platform',
};

function caller(claims: Readonly<Record<string, unknown>>): Caller {
  return callerOf({ sub: 'ada', ...claims }, CLAIMS)!;
}

const roles = (...names: string[]) => caller({ realm_access: { roles: names } });

test('the tenants of a caller are a text or a list of texts', () => {
  expect([...caller({ tenants: 'acme' }).tenants]).toEqual(['acme']);
  expect([...caller({ tenants: ['acme', 'ünïted 1'] }).tenants]).toEqual(['acme', 'ünïted 1']);
});

test('what is no id of a tenant is left out, and the others count', () => {
  const tenants = ['acme', '', 7, null, ['b'], 'x'.repeat(256), 'y'.repeat(255)];
  expect([...caller({ tenants }).tenants]).toEqual(['acme', 'y'.repeat(255)]);
  for (const none of [undefined, null, '', 7, {}, { acme: true }, [[]], 'x'.repeat(256)])
    expect([none, caller({ tenants: none }).tenants.size]).toEqual([none, 0]);
});

test('a caller has 1,000 tenants at most', () => {
  const tenants = Array.from({ length: 1_001 }, (_, n) => `t${n}`);
  const found = caller({ tenants }).tenants;
  expect([found.size, found.has('t999'), found.has('t1000')]).toEqual([1_000, true, false]);
});

test('roles are those of the settings, at the path of the settings', () => {
  expect(roles('tenant-admin')).toMatchObject({ isTenantAdmin: true, isPlatform: false });
  expect(roles('platform')).toMatchObject({ isTenantAdmin: false, isPlatform: true });
  expect(roles('Tenant-Admin', 'platform-admin')).toMatchObject({
    isTenantAdmin: false,
    isPlatform: false,
  });
  const elsewhere = { ...CLAIMS, tenantsPath: ['o', 'ids'], rolesPath: ['r'], adminRole: 'boss' };
  expect(callerOf({ sub: 'ada', o: { ids: 'acme' }, r: ['boss'] }, elsewhere)).toEqual({
    subject: 'ada',
    tenants: new Set(['acme']),
    isTenantAdmin: true,
    isPlatform: false,
  });
});

test('there is no caller without a subject', () => {
  expect(callerOf({ tenants: 'acme' }, CLAIMS)).toBeUndefined();
  expect(callerOf({ sub: '', tenants: 'acme' }, CLAIMS)).toBeUndefined();
});
