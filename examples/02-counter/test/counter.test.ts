// The counter without a server: which events a command makes, and what the state is after them.
import { testEndpoints, testEntity, testModule } from '@svc/guest-sdk/testing';
import { describe, expect, test } from 'vitest';

const module = await testModule('assembly/index.ts');

describe('a counter', () => {
  test('begins at zero', () => {
    testEntity(module, 'counter', 'a').query('get').thenReply({ value: 0 });
  });

  test('is increased by what happened, and replies its new value', () => {
    testEntity(module, 'counter', 'a')
      .given([{ type: 'increased', by: 3 }])
      .when('increase', { by: 4 })
      .thenEvents([{ type: 'increased', by: 4 }])
      .thenReply({ value: 7 });
  });

  test('is not increased by less than one', () => {
    testEntity(module, 'counter', 'a')
      .when('increase', { by: 0 })
      .thenRefused({ code: 'BAD_REQUEST', message: 'by: must be positive' })
      .thenNoEvents();
  });

  test('does not overflow', () => {
    testEntity(module, 'counter', 'a')
      .given([{ type: 'increased', by: 2_147_483_647 }])
      .when('increase', { by: 1 })
      .thenRefused({ message: /overflow/ });
  });
});

describe('the endpoint', () => {
  test('increases the counter of its path, and no other', async () => {
    const counters = testEndpoints(module);
    await counters.post('/counters/a', { by: 2 });
    expect((await counters.post('/counters/a', { by: 3 })).json).toEqual({ value: 5 });
    expect((await counters.get('/counters/b')).json).toEqual({ value: 0 });
  });

  test('refuses what is no number before the entity sees it', async () => {
    const answer = await testEndpoints(module).post('/counters/a', { by: 'two' });
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatch(/^by: must be an integer/);
  });
});
