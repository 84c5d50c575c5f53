// Services: generations, flags, history and hostnames.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { createService, defineEntity } from '@svc/host';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import { deleteService } from '../../../control-plane/flows/delete-service.ts';
import { exposeService, unexposeService } from '../../../control-plane/flows/expose-service.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { hostname } from '../../../control-plane/model/hostname.ts';
import { project } from '../../../control-plane/model/project.ts';
import { desiredService } from '../../../control-plane/orchestration/desired-service.ts';
import { service } from '../../../control-plane/model/service.ts';
import {
  Service,
  ServiceEvent,
  applyToService,
  emptyService,
} from '../../../control-plane/model/service-state.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import {
  accepted,
  actor,
  descriptor,
  givenProject,
  historyOf,
  outcomeOf,
  outcomesOf,
  startControlPlane,
} from '../control-plane-under-test.ts';

const ann = actor('ann');
const key = { project: 'web', service: 'cart' };
const URL_HOST = 'cart-web.example.com';

async function given(more = {}) {
  const control = await startControlPlane();
  await givenProject(control.call, 'shop', 'web');
  accepted(await applyService(control.call, key, descriptor('cart', more), ann));
  return control;
}

const get = async (call: Call) => accepted(await call(service, 'web/cart').get());
const holder = async (call: Call, name: string) => accepted(await call(hostname, name).holder());

describe('the generation', () => {
  test('hard case 14: rises with each of two applies at once, and both actors are in the history', async () => {
    const control = await given();
    const generations = await Promise.all(
      ['bob', 'cid'].map((by) => applyService(control.call, key, descriptor('cart'), actor(by))),
    );
    expect(generations.map(accepted).toSorted((a, b) => a - b)).toEqual([2, 3]);
    const entries = await historyOf(control, 'web/cart');
    expect(entries.map(({ generation }) => generation)).toEqual([1, 2, 3]);
    expect(entries.map(({ by }) => by?.subject ?? '').toSorted()).toEqual(['ann', 'bob', 'cid']);
    expect(entries.every(({ atMs }) => atMs !== undefined)).toBe(true);
  });

  test('rises by 20 with 20 applies that create a service at once', async () => {
    const { call } = await startControlPlane();
    await givenProject(call, 'shop', 'web');
    const applies = Array.from({ length: 20 }, () =>
      applyService(call, key, descriptor('cart'), ann),
    );
    const generations = (await Promise.all(applies)).map(accepted);
    expect(generations.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
    expect(accepted(await call(project, 'web').summary()).services).toBe(1);
  });

  test('hard case 15: does not rise with a restart of a paused service, which is refused', async () => {
    const { call } = await given();
    const cart = call(service, 'web/cart');
    accepted(await cart.pause({ by: ann }));
    expect(outcomeOf(await cart.restart({ by: ann }))).toBe('CONFLICT');
    expect((await get(call)).generation).toBe(1);
    accepted(await cart.resume({ by: ann }));
    accepted(await cart.restart({ by: ann }));
    expect((await get(call)).generation).toBe(2);
  });

  test('of the last apply stays while restarts raise that of the service', async () => {
    const { call } = await given();
    const applied = async () => {
      const { generation, appliedGeneration } = desiredService(key, await get(call));
      return [generation, appliedGeneration];
    };
    accepted(await call(service, 'web/cart').restart({ by: ann }));
    accepted(await call(service, 'web/cart').restart({ by: ann }));
    expect(await applied()).toEqual([3, 1]);
    accepted(await applyService(call, key, descriptor('cart'), ann));
    expect(await applied()).toEqual([4, 4]);
  });

  test('and the history continue when a deleted service is applied again', async () => {
    const control = await given();
    accepted(await control.call(service, 'web/cart').pause({ by: ann }));
    accepted(await deleteService(control.call, key, ann));
    expect(outcomeOf(await control.call(service, 'web/cart').get())).toBe('NOT_FOUND');
    expect(accepted(await applyService(control.call, key, descriptor('cart'), ann))).toBe(2);
    expect(await get(control.call)).toMatchObject({ paused: false, generation: 2 });
    expect((await historyOf(control, 'web/cart')).map(({ type }) => type)).toEqual([
      'applied',
      'paused',
      'deleted',
      'applied',
    ]);
  });
});

describe('a service', () => {
  test('that is paused stays paused when it is applied', async () => {
    const { call } = await given();
    accepted(await call(service, 'web/cart').pause({ by: ann }));
    accepted(await applyService(call, key, descriptor('cart'), ann));
    expect(await get(call)).toMatchObject({ paused: true, generation: 2 });
  });

  test('records nothing of what it is already', async () => {
    const control = await given();
    const cart = control.call(service, 'web/cart');
    accepted(await cart.resume({ by: ann }));
    for (let n = 0; n < 2; n++) {
      accepted(await cart.pause({ by: ann }));
      accepted(await exposeService(control.call, key, URL_HOST, ann));
    }
    for (let n = 0; n < 2; n++) accepted(await unexposeService(control.call, key, ann));
    expect((await historyOf(control, 'web/cart')).map(({ type }) => type)).toEqual([
      'applied',
      'paused',
      'exposed',
      'unexposed',
    ]);
  });

  test('that does not exist refuses everything, and cannot be applied without a project', async () => {
    const { call } = await startControlPlane();
    const cart = call(service, 'web/cart');
    for (const result of [
      await cart.pause({ by: ann }),
      await cart.resume({ by: ann }),
      await cart.restart({ by: ann }),
      await cart.get(),
      await deleteService(call, key, ann),
      await unexposeService(call, key, ann),
      await exposeService(call, key, URL_HOST, ann),
      await applyService(call, key, descriptor('cart', { hostnames: ['a.example'] }), ann),
    ])
      expect(outcomeOf(result)).toBe('NOT_FOUND');
    expect(await holder(call, URL_HOST)).toBe('');
    expect(await holder(call, 'a.example')).toBe('');
  });
});

describe('a hostname', () => {
  const other = { project: 'web', service: 'other' };

  test('that two services derive is given to one, and is free after unexposing or deleting', async () => {
    const { call } = await given();
    accepted(await applyService(call, other, descriptor('other'), ann));
    const both = [key, other];
    for (const free of [unexposeService, deleteService]) {
      const results = await Promise.all(both.map((one) => exposeService(call, one, URL_HOST, ann)));
      expect(outcomesOf(results)).toEqual(['CONFLICT', 'ok']);
      const winner = both[results.findIndex(({ isOk }) => isOk)]!;
      expect(await holder(call, URL_HOST)).toBe(`web/${winner.service}`);
      accepted(await free(call, winner, ann));
      expect(await holder(call, URL_HOST)).toBe('');
    }
  });

  test('that another service has refuses an apply, which then changes nothing', async () => {
    const { call } = await given({ hostnames: ['a.example'] });
    const wanting = descriptor('other', { hostnames: ['b.example', 'a.example'] });
    expect(outcomeOf(await applyService(call, other, wanting, ann))).toBe('CONFLICT');
    expect(await holder(call, 'b.example')).toBe('');
    expect(await holder(call, 'a.example')).toBe('web/cart');
    expect(accepted(await call(project, 'web').serviceNames())).toEqual(['cart']);
  });

  test('that the next descriptor lacks is free, and one that it keeps is kept', async () => {
    const { call } = await given({ hostnames: ['a.example', 'b.example'] });
    const next = descriptor('cart', { hostnames: ['b.example', 'c.example'] });
    accepted(await applyService(call, key, next, ann));
    const names = ['a.example', 'b.example', 'c.example'];
    expect(await Promise.all(names.map((name) => holder(call, name)))).toEqual([
      '',
      'web/cart',
      'web/cart',
    ]);
  });

  test('is given up by a service that serves no HTTP any more, which its history says', async () => {
    const control = await given();
    accepted(await exposeService(control.call, key, URL_HOST, ann));
    accepted(await applyService(control.call, key, descriptor('cart', { http: false }), ann));
    expect(await holder(control.call, URL_HOST)).toBe('');
    expect((await historyOf(control, 'web/cart')).map(({ type }) => type)).toEqual([
      'applied',
      'exposed',
      'applied',
      'unexposed',
    ]);
    expect(outcomeOf(await exposeService(control.call, key, URL_HOST, ann))).toBe('CONFLICT');
    expect(await holder(control.call, URL_HOST)).toBe('');
  });

  test('is not taken with a claim whose time is over', async () => {
    const { call } = await given();
    const claim = accepted(await call(hostname, URL_HOST).claim({ service: 'web/cart' }));
    const late = { hostname: URL_HOST, claim: { ...claim, untilMs: Date.now() } };
    const cart = call(service, 'web/cart');
    expect(outcomeOf(await cart.expose({ ...late, by: ann }))).toBe('CLAIM_OVER');
    const applied = { descriptor: descriptor('cart'), hostnames: [late], by: ann };
    expect(outcomeOf(await cart.apply(applied))).toBe('CLAIM_OVER');
    expect(await get(call)).toMatchObject({ generation: 1, hostnames: {} });
  });
});

test('hard case 30: history that was recorded before there were actors has neither actor nor time', async () => {
  const old = defineEntity({
    component: 'service',
    state: { manifest: 'service', schema: Service },
    event: { manifest: 'service-event', schema: ServiceEvent },
    empty: emptyService,
    apply: applyToService,
    commands: {
      record: {
        input: Type.Array(ServiceEvent),
        handle: (_state, events, { persistAll }) =>
          persistAll([...events] as ServiceEvent[]).thenReply(),
      },
    },
  });
  const dataFolder = temporaryFolder();
  const before = await createService({
    name: 'control-plane',
    entities: [old],
    http: false,
    log: 'none',
    dataFolder,
  });
  const applied = { type: 'applied' as const, generation: 1, descriptor: descriptor('cart') };
  accepted(
    await before.call(old, 'web/cart').record([
      { ...applied, claim: 'c', hostnames: [], freed: [] },
      { type: 'paused', generation: 1 },
    ]),
  );
  await before.stop();
  const control = await startControlPlane({ dataFolder });
  accepted(await control.call(service, 'web/cart').resume({ by: ann }));
  const entries = await historyOf(control, 'web/cart');
  expect(entries.map(({ type, by, atMs }) => [type, by, typeof atMs])).toEqual([
    ['applied', undefined, 'undefined'],
    ['paused', undefined, 'undefined'],
    ['resumed', ann, 'number'],
  ]);
});
