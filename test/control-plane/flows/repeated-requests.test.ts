// Requests that are repeated with their idempotency key, as they are or with another body, after an answer or a crash.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { createOrganization } from '../../../control-plane/flows/create-organization.ts';
import { createProject } from '../../../control-plane/flows/create-project.ts';
import { exposeService } from '../../../control-plane/flows/expose-service.ts';
import { CLAIM_MS, SETTLE_AFTER_MS } from '../../../control-plane/model/claims.ts';
import { keyedCalls } from '../../support/keyed-calls.ts';
import {
  Cut,
  accepted,
  actor,
  cutAfter,
  descriptor,
  givenOrganization,
  givenProject,
  outcomeOf,
  outcomesOf,
  personOf,
  startControlPlane,
} from '../control-plane-under-test.ts';
import { expectSettled } from '../expect-settled.ts';

const ann = actor('ann');
const bob = actor('bob');
const cart = { project: 'web', service: 'cart' };
const all = {
  organizations: ['shop'],
  projects: ['web'],
  services: ['web/cart'],
  hostnames: ['a.example', 'b.example', 'derived.example'],
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const apply = (call: Call, image: string, hostnames = ['a.example', 'b.example']) =>
  applyService(call, cart, descriptor('cart', { image, hostnames }), ann);

const create = (calls: Call) =>
  createProject(calls, 'web', { organizationId: 'shop', name: 'Web' }, ann);
const found = (calls: Call) =>
  createOrganization(calls, 'new', { name: 'New', owner: personOf('ann') }, ann);

describe('a request that is repeated with another body is refused, and takes nothing away:', () => {
  test('a project stays in its organization', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    accepted(await create(keyedCalls(call, 'k')));
    const renamed = { organizationId: 'shop', name: 'Other' };
    const again = await createProject(keyedCalls(call, 'k'), 'web', renamed, ann);
    expect(outcomeOf(again)).toBe('UNPROCESSABLE');
    await expect(
      expectSettled(call, { ...all, services: [], hostnames: [] }),
    ).resolves.toBeUndefined();
  });

  test('a service keeps its name and its hostnames', async () => {
    const { call } = await startControlPlane();
    await givenProject(call, 'shop', 'web');
    accepted(await apply(keyedCalls(call, 'k'), 'it:1'));
    expect(outcomeOf(await apply(keyedCalls(call, 'k'), 'it:2'))).toBe('UNPROCESSABLE');
    await expect(expectSettled(call, all)).resolves.toBeUndefined();
    // Also one that existed before.
    accepted(await apply(keyedCalls(call, 'l'), 'it:3'));
    expect(outcomeOf(await apply(keyedCalls(call, 'l'), 'it:4'))).toBe('UNPROCESSABLE');
    await expect(expectSettled(call, all)).resolves.toBeUndefined();
  });

  test('a service stays exposed', async () => {
    const { call } = await startControlPlane();
    await givenProject(call, 'shop', 'web');
    accepted(await apply(call, 'it:1', []));
    const expose = (by: typeof ann) =>
      exposeService(keyedCalls(call, 'k'), cart, 'derived.example', by);
    accepted(await expose(ann));
    expect(outcomeOf(await expose(bob))).toBe('UNPROCESSABLE');
    await expect(expectSettled(call, all)).resolves.toBeUndefined();
  });
});

test('a request that was refused is refused again, and leaves nothing behind', async () => {
  const { call } = await startControlPlane();
  await givenProject(call, 'shop', 'web');
  const other = { project: 'web', service: 'other' };
  accepted(await applyService(call, other, descriptor('other', { hostnames: ['b.example'] }), ann));
  expect(outcomeOf(await apply(keyedCalls(call, 'k'), 'it:1'))).toBe('CONFLICT');
  accepted(await applyService(call, other, descriptor('other'), ann));
  expect(outcomeOf(await apply(keyedCalls(call, 'k'), 'it:1'))).toBe('CONFLICT');
  await expect(
    expectSettled(call, { ...all, services: ['web/cart', 'web/other'] }),
  ).resolves.toBeUndefined();
});

test.each([
  ['its claims are over', CLAIM_MS],
  ['its claims are settled', SETTLE_AFTER_MS],
])('a request that was cut off is done when it is repeated after %s', async (_when, passedMs) => {
  const { call } = await startControlPlane();
  await givenOrganization(call, 'shop');
  await expect(create(cutAfter(keyedCalls(call, 'p'), 1))).rejects.toThrow(Cut);
  await expect(found(cutAfter(keyedCalls(call, 'o'), 1))).rejects.toThrow(Cut);
  vi.setSystemTime(Date.now() + passedMs);
  accepted(await create(keyedCalls(call, 'p')));
  accepted(await found(keyedCalls(call, 'o')));
  await expect(apply(cutAfter(keyedCalls(call, 's'), 4), 'it:1')).rejects.toThrow(Cut);
  vi.setSystemTime(Date.now() + passedMs);
  accepted(await apply(keyedCalls(call, 's'), 'it:1'));
  vi.setSystemTime(Date.now() + SETTLE_AFTER_MS);
  await expect.poll(() => expectSettled(call, all)).toBeUndefined();
});

describe('of requests at the same time', () => {
  test('two that want the same hostnames in another order, one gets them', async () => {
    const { call } = await startControlPlane();
    await givenProject(call, 'shop', 'web');
    const names = ['a.example', 'b.example', 'c.example'];
    const one = (service: string, hostnames: string[]) =>
      applyService(call, { ...cart, service }, descriptor(service, { hostnames }), ann);
    for (let n = 0; n < 10; n++) {
      const results = await Promise.all([one(`a${n}`, names), one(`b${n}`, names.toReversed())]);
      expect(outcomesOf(results)).toEqual(['CONFLICT', 'ok']);
      accepted(await one(`a${n}`, []));
      accepted(await one(`b${n}`, []));
    }
  });

  test('one is not refused because of a hostname that another does not get', async () => {
    const { call } = await startControlPlane();
    await givenProject(call, 'shop', 'web');
    const one = (service: string, hostnames: string[]) =>
      applyService(call, { ...cart, service }, descriptor(service, { hostnames }), ann);
    accepted(await one('holder', ['z.example']));
    for (let n = 0; n < 10; n++) {
      const results = await Promise.all([
        one('both', ['a.example', 'z.example']),
        one('cart', ['a.example']),
      ]);
      expect(results.map(outcomeOf)).toEqual(['CONFLICT', 'ok']);
      accepted(await one('cart', []));
    }
  });
});
