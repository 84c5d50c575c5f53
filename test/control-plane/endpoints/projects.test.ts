// Projects of organizations.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiUnderTest } from './api-under-test.ts';

let api: ApiUnderTest;
beforeAll(async () => {
  api = await ApiUnderTest.start();
  for (const [as, id] of [
    ['ann', 'shop'],
    ['ann', 'bank'],
    ['bob', 'farm'],
  ] as const)
    await api.done(`POST /organizations/${id}`, { as, json: { name: id } });
  api.knows({ subject: 'dan', email: 'dan@example.com', verified: true });
  await api.done('POST /organizations/shop/members', {
    as: 'ann',
    json: { email: 'dan@example.com' },
  });
});
afterAll(() => api[Symbol.asyncDispose]());

const creation = (name: string, organizationId = 'shop') => ({ json: { name, organizationId } });

function of(id: string, name: string, organizationId = 'shop') {
  return { id, name, organizationId, services: 0 };
}

test('members create projects, and the lists are by name', async () => {
  await api.done('POST /projects/p1', { as: 'dan', ...creation('Zebra') });
  await api.done('POST /projects/p2', { as: 'ann', ...creation('Ape') });
  await api.done('POST /projects/p3', { as: 'ann', ...creation('Cat', 'bank') });
  await api.done('POST /projects/p4', { as: 'bob', ...creation('Cow', 'farm') });
  const list = (as: string, query = '') => api.done(`GET /projects${query}`, { as });
  expect(await list('ann')).toEqual([of('p2', 'Ape'), of('p3', 'Cat', 'bank'), of('p1', 'Zebra')]);
  expect(await list('dan')).toEqual([of('p2', 'Ape'), of('p1', 'Zebra')]);
  expect(await list('ann', '?organization=bank')).toEqual([of('p3', 'Cat', 'bank')]);
  expect(await list('ann', '?organization=farm')).toEqual([]);
  expect(await list('ann', '?organization=')).toEqual([]);
  expect(await api.refusal('GET /projects?organisation=bank', { as: 'ann' })).toEqual([
    400,
    'organisation: is no parameter of the query: they are organization',
  ]);
  expect(await api.refusal('GET /projects?organization=a&organization=b', { as: 'ann' })).toEqual([
    400,
    'organization: is given twice',
  ]);
  expect((await api.send('GET /projects?organization=%ff', { as: 'ann' })).status).toBe(400);
  expect(await api.done('GET /projects/p3', { as: 'ann' })).toEqual(of('p3', 'Cat', 'bank'));
  await api.done('PUT /projects/p2/name', { as: 'dan', json: { name: 'Zoo' } });
  expect(await list('dan')).toEqual([of('p1', 'Zebra'), of('p2', 'Zoo')]);
});

test('a project is created in an organization of the caller alone', async () => {
  const refusal = await api.refusal('POST /projects/q1', { as: 'bob', ...creation('Q') });
  expect(refusal[0]).toBe(404);
  expect(await api.refusal('POST /projects/q1', { as: 'bob', ...creation('Q', 'never') })).toEqual(
    refusal,
  );
  api.knows({ subject: 'root', roles: ['platform-admin'] });
  expect(await api.refusal('POST /projects/q1', { as: 'root', ...creation('Q') })).toEqual(refusal);
  await api.done('POST /projects/q1', { as: 'ann', ...creation('Q') });
});

test('hard case 7: an id has at most 57 characters', async () => {
  const longest = 'a'.repeat(57);
  await api.done(`POST /projects/${longest}`, { as: 'ann', ...creation('Web') });
  expect(await api.done(`GET /projects/${longest}`, { as: 'ann' })).toMatchObject({ id: longest });
});

test.each(['a'.repeat(58), 'web-', '9web', 'Web', 'a_b'])(
  'hard case 7: the id %s is none',
  async (id) => {
    expect(await api.refusal(`POST /projects/${id}`, { as: 'ann', ...creation('Web') })).toEqual([
      400,
      expect.stringContaining('projectId: is '),
    ]);
  },
);

test('owners delete projects, and the id is never free again', async () => {
  await api.done('POST /projects/r1', { as: 'dan', ...creation('R') });
  expect((await api.send('DELETE /projects/r1', { as: 'dan' })).status).toBe(403);
  await api.done('DELETE /projects/r1', { as: 'ann' });
  expect(await api.refusal('POST /projects/r1', { as: 'ann', ...creation('R') })).toEqual([
    409,
    expect.stringContaining('used before'),
  ]);
  expect((await api.send('GET /projects/r1', { as: 'ann' })).status).toBe(404);
});

test('fifty creations of one id at once make one project', async () => {
  const sent = Array.from({ length: 50 }, (_, index) =>
    api.send('POST /projects/race', {
      as: index % 2 === 0 ? 'ann' : 'dan',
      ...creation(`Race ${index}`),
    }),
  );
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 204)).toHaveLength(1);
  // Beyond 32 at the same time the others are asked to come back.
  expect(statuses.filter((status) => status !== 204 && status !== 429)).toEqual(
    expect.arrayContaining([409]),
  );
});
