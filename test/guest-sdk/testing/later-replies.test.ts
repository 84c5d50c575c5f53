// Commands that reply from the state after their events: the module's answers in the sandbox and over HTTP.
import type { EntityDescriptor } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { testEndpoints, testEntity, testModule } from '../../../guest-sdk/testing/index.ts';
import { startWasmGuest } from '../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT, admitModule } from '../../../host/tools.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { filesWith, snippetsOf } from '../../support/doc-snippets.ts';
import { failureOf } from './failure.ts';

const bytes = await compileFixture('replies');
const module = await testModule(bytes);
const cart = () => testEntity(module, 'cart', 'c1');
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('a command replies', () => {
  test('with the state after its event, as the event is stored', () => {
    cart()
      .given([{ type: 'added', sku: 'a', price: 1 }])
      .when('put', { sku: 'b', price: 0.5 })
      .thenEvents([{ type: 'added', sku: 'b', price: 0.5 }])
      .thenReply({ items: [{ sku: 'a' }, { sku: 'b' }], total: 1.5 });
  });

  test('with what a method computes of it, and of what the handler has handed on', () => {
    cart()
      .metadata({ traceparent: TRACE })
      .given([{ type: 'added', sku: 'a', price: 1 }])
      .when('add', { sku: 'a sku that is longer than a word of the machine' })
      .thenReply({
        id: 'c1',
        added: 'a sku that is longer than a word of the machine',
        items: 2,
        trace: TRACE,
      });
  });

  test('with what a query answers', () => {
    const given = [{ type: 'added', sku: 'a', price: 1 }];
    cart().given(given).when('empty-out').thenReply(0).query('count').thenReply(0);
  });

  test('with the present state where nothing happens', () => {
    cart().when('nothing').thenNoEvents().thenReply({ items: [], total: 0 });
  });

  test('with the state before the deletion', () => {
    cart()
      .given([{ type: 'added', sku: 'a', price: 1 }])
      .when('remove')
      .thenDeleted()
      .thenReply(2)
      .query('count')
      .thenReply(0);
  });
});

describe('the method of a reply', () => {
  test('that changes the state is found', () => {
    const it = cart().given([{ type: 'added', sku: 'a', price: 1 }]);
    const failure = failureOf(() => it.when('spoil'));
    expect(failure.message).toContain(
      "the reply of command 'spoil' changed the state it was given; only apply may",
    );
    it.query('count').thenReply(1);
  });

  test('that traps fails the command, and its event has not happened', () => {
    const it = cart();
    expect(failureOf(() => it.when('trap')).message).toMatch(
      /^cart 'c1', command 'trap', after no events\nabort: no reply at index\.ts:\d+:\d+/,
    );
    it.query('count').thenReply(0);
  });

  test('that traps in a service gives a 500, and its event is not stored', async () => {
    const api = testEndpoints(module);
    expect((await api.request('POST', '/carts/a', { body: { sku: 'x' } })).json).toMatchObject({
      id: 'a',
      items: 1,
    });
    expect((await api.request('POST', '/carts/a/trap')).status).toBe(500);
    expect((await api.request('GET', '/carts/a')).json).toEqual({
      items: [{ sku: 'x' }],
      total: 0,
    });
  });
});

test('the fuel of a reply is the fuel of its command', async () => {
  const guest = module.start();
  const entity = await guest.entities.open({ component: 'cart', id: 'a' }, undefined);
  const spent = { fuel: 0 };
  const context = { nowMs: 1, seed: 1n, metadata: [], spent };
  const effect = await entity.command(context, 'put', '{"sku":"a"}');
  expect(effect).toMatchObject({ kind: 'effect', reply: undefined });
  const before = spent.fuel;
  expect(await entity.reply(context, 'put')).toMatchObject({ kind: 'reply' });
  expect(spent.fuel).toBeGreaterThan(before);
  await guest.close();
});

test('a fault of a reply names the reply, and keeps its cause and the last words of the module', async () => {
  const guest = module.start();
  const entity = await guest.entities.open({ component: 'cart', id: 'a' }, undefined);
  const context = { nowMs: 1, seed: 1n, metadata: [] };
  expect(await entity.command(context, 'trap', 'null')).toMatchObject({ reply: undefined });
  const failing = Promise.resolve().then(() => entity.reply(context, 'trap'));
  await expect(failing).rejects.toMatchObject({
    faultCause: 'trap',
    message: expect.stringMatching(/^The reply of command 'trap' failed: The module /) as string,
    guestMessage: expect.stringContaining('no reply') as string,
  });
  await guest.close();
});

test('an entity that declares no such reply has its empty text passed on', async () => {
  const admitted = admitModule(bytes);
  const [{ repliesFromState: _, ...entity }] = admitted.descriptor.entities as [EntityDescriptor];
  const descriptor = { ...admitted.descriptor, entities: [entity] };
  const guest = startWasmGuest({ ...admitted, descriptor }, WASM_LIMITS_DEFAULT, () => {});
  const cartEntity = await guest.entities.open({ component: 'cart', id: 'a' }, undefined);
  const context = { nowMs: 1, seed: 1n, metadata: [] };
  expect(await cartEntity.command(context, 'nothing', 'null')).toMatchObject({ reply: '' });
  await guest.close();
});

test('the descriptor of an entity says that it replies so, and that of another one does not', async () => {
  expect(module.descriptor.entities[0]).toMatchObject({ repliesFromState: true });
  const { descriptor } = await testModule(await compileFixture('shopping-cart'));
  expect(descriptor.entities[0]).not.toHaveProperty('repliesFromState');
});

test('the reference shows a command and its method as the fixture has them', () => {
  const snippet = snippetsOf('docs/reference/sdk.md', 'ts').find(({ code }) =>
    code.includes('thenReplyFrom'),
  );
  expect(filesWith(snippet!.code, ['fixtures/replies/assembly/index.ts'])).toHaveLength(1);
});
