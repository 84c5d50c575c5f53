// Statuses that routes declare, statuses that the compiler finds by itself, and comments that become descriptions.
import { describe, expect, test } from 'vitest';
import type { RouteDescriptor } from '@svc/contract';
import { testEndpoints, testModule } from '../../guest-sdk/testing/index.ts';
import { compileFixture } from '../support/compile-fixture.ts';

const module = await testModule(await compileFixture('declared-answers'));
const routes: ReadonlyMap<string, RouteDescriptor> = new Map(
  module.descriptor.endpoints.flatMap(({ prefix, routes: own }) =>
    own.map((route) => [`${route.method} ${prefix}${route.path}`, route] as const),
  ),
);

describe('the descriptor has', () => {
  test.each([
    ['POST /seen/created/{name}', [201]],
    ['GET /seen/cached/{name}', [200, 304]],
    ['GET /seen/moved', [303]],
    // Default statuses are left out.
    ['GET /seen/plain', undefined],
    ['GET /seen/done', undefined],
    // Statuses that no return statement shows are left out too.
    ['GET /seen/hidden', undefined],
    ['GET /seen/variable', undefined],
    ['GET /seen/computed/{status}', undefined],
    ['POST /declared/created', [201]],
    ['POST /declared/either/{status}', [201, 200, 409]],
  ])('of %s the statuses %j', (label, answers) => {
    expect(routes.get(label)!.answers).toEqual(answers);
  });

  test('of a comment the first sentence as summary, and all of it as description', () => {
    expect(routes.get('POST /seen/created/{name}')).toMatchObject({
      summary: 'Makes an item',
      description:
        'Makes an item. It is stored at once, and answered as it is.\n\nA second one of the name is refused.',
    });
    const { summary, description } = routes.get('GET /seen/cached/{name}')!;
    expect(summary).toBe('Answers an item, or nothing when it has not changed');
    expect(description).toBeUndefined();
    expect(routes.get('GET /seen/plain')!.summary).toBeUndefined();
  });
});

describe('a value without a status is answered', () => {
  test.each([
    ['/declared/created', 201],
    ['/declared/done', 202],
    ['/declared/either/0', 201],
    ['/declared/either/200', 200],
    ['/declared/either/409', 409],
    ['/declared/either/400', 400],
    ['/seen/created/a', 201],
    ['/seen/created/taken', 409],
  ])(
    '%s with the first that its route declares below 300, or its own: %i',
    async (path, status) => {
      expect((await testEndpoints(module).post(path)).status).toBe(status);
    },
  );

  test('with 200 and 204 where nothing is declared below 300', async () => {
    const api = testEndpoints(module);
    expect((await api.get('/seen/plain')).status).toBe(200);
    expect((await api.get('/seen/done')).status).toBe(204);
    expect((await api.get('/declared/moved')).status).toBe(303);
    expect((await api.get('/seen/cached/a?isKnown=true')).status).toBe(304);
    expect((await api.get('/seen/computed/404')).status).toBe(404);
  });
});
