// What requests do to subscriptions: at the same time, and when they are repeated with their idempotency keys.
import { describe, expect, test } from 'vitest';
import { SUBSCRIPTIONS_MAX, tenant } from '../../../webhooks/model/tenant.ts';
import { accepted, callsOf, outcomeOf, startSubscriptions } from './subscriptions-under-test.ts';

const url = 'https://receiver.example/hook';
const SECRET = /^[\w-]{43}$/;

test('a subscription is created, shown without its secret, changed and deleted', async () => {
  const { call, flows } = await startSubscriptions();
  const created = accepted(await flows.create(call, 'acme', { url, headers: { 'X-A': '1' } }));
  expect(created).toEqual({
    id: expect.stringMatching(/^wh_[0-9A-HJKMNP-TV-Z]{26}$/),
    url,
    events: ['dataset.*'],
    filters: {},
    signing: { method: 'hmac-sha256', over: 'body' },
    headers: { 'X-A': '1' },
    createdAt: '2027-01-15T08:00:00.000Z',
    secret: expect.stringMatching(SECRET),
  });
  const { secret: _secret, ...shown } = created;
  const { id } = shown;
  expect(accepted(await flows.get('acme', id))).toEqual(shown);
  expect(await flows.list('acme')).toEqual([shown]);
  const patched = accepted(await flows.patch(call, 'acme', id, { filters: { model: 'routing' } }));
  expect(patched).toEqual({ ...shown, filters: { model: 'routing' } });
  const replaced = accepted(
    await flows.replace(call, 'acme', id, { url, events: ['webhook.failing'] }),
  );
  expect(replaced).toEqual({ ...shown, events: ['webhook.failing'], headers: {} });
  expect(await flows.list('acme')).toEqual([replaced]);
  expect(outcomeOf(await flows.remove(call, 'acme', id))).toBe('ok');
  expect(outcomeOf(await flows.remove(call, 'acme', id))).toBe('NOT_FOUND');
  expect(outcomeOf(await flows.get('acme', id))).toBe('NOT_FOUND');
  expect(outcomeOf(await flows.patch(call, 'acme', id, {}))).toBe('NOT_FOUND');
  expect(outcomeOf(await flows.replace(call, 'acme', id, { url }))).toBe('NOT_FOUND');
  expect(outcomeOf(await flows.rotate(call, 'acme', id, undefined))).toBe('NOT_FOUND');
  expect(await flows.list('acme')).toEqual([]);
});

test('subscriptions are listed in the order of their creation, and each tenant has its own', async () => {
  const { call, flows, clock } = await startSubscriptions();
  const ids: string[] = [];
  for (let number = 0; number < 3; number++) {
    // A clock that is set back does not change the order.
    clock.set(-1_000);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    ids.push(accepted(await flows.create(call, 'acme', { url: `${url}${number}` })).id);
  }
  expect((await flows.list('acme')).map(({ id }) => id)).toEqual(ids);
  expect(await flows.list('other')).toEqual([]);
  expect(outcomeOf(await flows.get('other', ids[0]!))).toBe('NOT_FOUND');
  expect(outcomeOf(await flows.patch(call, 'other', ids[0]!, {}))).toBe('NOT_FOUND');
  expect(outcomeOf(await flows.remove(call, 'other', ids[0]!))).toBe('NOT_FOUND');
});

test('a request with problems names all of them, and stores nothing', async () => {
  const { call, flows } = await startSubscriptions();
  const refused = await flows.create(call, 'acme', { url: 'http://127.1/', events: [], key: 1 });
  expect(refused).toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringMatching(
      /^body: has the unknown field "key".*\nevents: is empty.*\nurl: leads to /,
    ),
  });
  const { id } = accepted(await flows.create(call, 'acme', { url }));
  for (const result of [
    await flows.replace(call, 'acme', id, { events: [] }),
    await flows.patch(call, 'acme', id, { url: null }),
    await flows.rotate(call, 'acme', id, { gracePeriodSeconds: 604_801 }),
  ])
    expect(outcomeOf(result)).toBe('BAD_REQUEST');
  expect(await call(tenant, 'acme').events()).toHaveLength(1);
});

test('a tenant has at most 100 subscriptions, also when requests come together', async () => {
  const { call, flows } = await startSubscriptions();
  const results = await Promise.all(
    Array.from({ length: SUBSCRIPTIONS_MAX + 5 }, () => flows.create(call, 'acme', { url })),
  );
  const outcomes = results.map(outcomeOf);
  expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(100);
  expect(outcomes.filter((outcome) => outcome === 'CONFLICT')).toHaveLength(5);
  const [first] = await flows.list('acme');
  accepted(await flows.remove(call, 'acme', first!.id));
  expect(outcomeOf(await flows.create(call, 'acme', { url }))).toBe('ok');
  expect(await flows.list('acme')).toHaveLength(100);
});

test('changes of one subscription at the same time all take effect', async () => {
  const { call, flows } = await startSubscriptions();
  const { id } = accepted(await flows.create(call, 'acme', { url }));
  const changes = Array.from({ length: 12 }, (_, index) => [`X-${index}`, String(index)] as const);
  const results = await Promise.all([
    ...changes.map(([name, value]) =>
      flows.patch(call, 'acme', id, { headers: { [name]: value } }),
    ),
    flows.rotate(call, 'acme', id, undefined),
  ]);
  expect(results.map(outcomeOf)).toEqual(Array(13).fill('ok'));
  const { headers } = accepted(await flows.get('acme', id));
  expect(headers).toEqual(Object.fromEntries(changes));
});

test('the subscriptions of a tenant have a bounded size together, and can be listed', async () => {
  const { call, flows } = await startSubscriptions();
  const headers = Object.fromEntries(
    Array.from({ length: 32 }, (_, index) => [`X-${index}`, 'v'.repeat(4_096)]),
  );
  const large = () => flows.create(call, 'acme', { url, headers });
  const outcomes = [await large(), await large(), await large()].map(outcomeOf);
  expect(outcomes).toEqual(['ok', 'ok', 'CONFLICT']);
  const refused = await large();
  expect(refused).toMatchObject({ message: expect.stringContaining('more than 384 KiB') });
  const small = accepted(await flows.create(call, 'acme', { url }));
  expect(outcomeOf(await flows.replace(call, 'acme', small.id, { url, headers }))).toBe('CONFLICT');
  const [first, second] = await flows.list('acme');
  expect(await flows.list('acme')).toHaveLength(3);
  // What does not grow is never refused.
  accepted(await flows.rotate(call, 'acme', first!.id, undefined));
  accepted(await flows.patch(call, 'acme', first!.id, { headers: { 'X-0': null } }));
  accepted(await flows.remove(call, 'acme', second!.id));
  expect(outcomeOf(await flows.replace(call, 'acme', small.id, { url, headers }))).toBe('ok');
});

test('a change to what there is stores nothing', async () => {
  const { call, flows } = await startSubscriptions();
  const { id } = accepted(await flows.create(call, 'acme', { url, headers: { A: '1', B: '2' } }));
  const shown = accepted(await flows.get('acme', id));
  const same = { url, headers: { B: '2', A: '1' } };
  expect(await flows.replace(call, 'acme', id, same)).toMatchObject({ value: shown });
  expect(await flows.patch(call, 'acme', id, {})).toMatchObject({ value: shown });
  expect(await flows.patch(callsOf(call, 'k'), 'acme', id, { url })).toMatchObject({
    value: shown,
  });
  expect(await call(tenant, 'acme').events()).toHaveLength(1);
  // It is done once all the same.
  const changed = accepted(await flows.patch(call, 'acme', id, { url: `${url}2` }));
  expect(await flows.patch(callsOf(call, 'k'), 'acme', id, { url })).toMatchObject({
    value: changed,
  });
  expect(await call(tenant, 'acme').events()).toHaveLength(2);
});

describe('a request that is repeated with its idempotency key', () => {
  test('creates one subscription, and shows the same secret', async () => {
    const { call, flows } = await startSubscriptions();
    const first = accepted(await flows.create(callsOf(call, 'k'), 'acme', { url }));
    const again = accepted(await flows.create(callsOf(call, 'k'), 'acme', { url }));
    expect(again).toEqual(first);
    expect(await flows.list('acme')).toHaveLength(1);
    const other = await flows.create(callsOf(call, 'k'), 'acme', {
      url,
      events: ['dataset.failed'],
    });
    expect(outcomeOf(other)).toBe('UNPROCESSABLE');
    expect(accepted(await flows.create(callsOf(call, 'l'), 'acme', { url })).id).not.toBe(first.id);
  });

  test('rotates once, and shows the same secret until there is another one', async () => {
    const { call, flows } = await startSubscriptions();
    const created = accepted(await flows.create(callsOf(call, 'k'), 'acme', { url }));
    const rotate = (key: string) => flows.rotate(callsOf(call, key), 'acme', created.id, {});
    const rotated = accepted(await rotate('r'));
    expect(rotated).toEqual({ ...created, secret: expect.stringMatching(SECRET) });
    expect(rotated.secret).not.toBe(created.secret);
    expect(accepted(await rotate('r'))).toEqual(rotated);
    expect(await flows.create(callsOf(call, 'k'), 'acme', { url })).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('its secret was rotated since'),
    });
    expect(accepted(await rotate('r2')).secret).not.toBe(rotated.secret);
    expect(outcomeOf(await rotate('r'))).toBe('CONFLICT');
    expect(
      await flows.rotate(callsOf(call, 'r'), 'acme', created.id, { gracePeriodSeconds: 1 }),
    ).toMatchObject({
      code: 'UNPROCESSABLE',
    });
  });

  test('changes once, and shows what there is', async () => {
    const { call, flows } = await startSubscriptions();
    const { id } = accepted(await flows.create(call, 'acme', { url }));
    const patch = () => flows.patch(callsOf(call, 'k'), 'acme', id, { headers: { 'X-A': '1' } });
    accepted(await patch());
    accepted(await flows.patch(call, 'acme', id, { headers: { 'X-A': '2' } }));
    expect(accepted(await patch()).headers).toEqual({ 'X-A': '2' });
    expect(outcomeOf(await flows.replace(callsOf(call, 'k'), 'acme', id, { url }))).toBe(
      'UNPROCESSABLE',
    );
    expect(outcomeOf(await flows.remove(callsOf(call, 'k'), 'acme', id))).toBe('ok');
    expect(outcomeOf(await flows.remove(callsOf(call, 'k'), 'acme', id))).toBe('ok');
    expect(outcomeOf(await flows.create(call, 'acme', { url }))).toBe('ok');
  });

  test('creates nothing again once its subscription is deleted', async () => {
    const { call, flows } = await startSubscriptions();
    const { id } = accepted(await flows.create(callsOf(call, 'k'), 'acme', { url }));
    accepted(await flows.remove(call, 'acme', id));
    expect(await flows.create(callsOf(call, 'k'), 'acme', { url })).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('its subscription was deleted since'),
    });
    expect(await flows.list('acme')).toEqual([]);
  });

  test('tries again after others were in the way the first time', async () => {
    const { call, flows, clock } = await startSubscriptions();
    const { id } = accepted(await flows.create(call, 'acme', { url }));
    const calls = callsOf(call, 'k');
    // Another request changes the subscription between the reading and each command of this one.
    const interrupted = ((entity, tenantId) => {
      const client = calls(entity as typeof tenant, tenantId);
      return new Proxy(client, {
        get: (target, name) =>
          name !== 'replace'
            ? Reflect.get(target, name)
            : async (input: Parameters<typeof client.replace>[0]) => {
                const others = call(tenant, 'acme');
                const { subscription } = accepted(await others.subscription({ id }));
                const { revision, sealed } = subscription;
                accepted(
                  await others.rotate({ id, revision, sealed, graceMs: 0, digest: 'other' }),
                );
                return await client.replace(input);
              },
      });
    }) as typeof call;
    const patch = { events: ['dataset.failed'] };
    expect(outcomeOf(await flows.patch(interrupted, 'acme', id, patch))).toBe('CHANGED');
    await clock.advance(1);
    const patched = accepted(await flows.patch(callsOf(call, 'k'), 'acme', id, patch));
    expect(patched.events).toEqual(['dataset.failed']);
  });
});

describe('W15: a secret that is rotated', () => {
  test('counts beside the new one until the grace period is over, as it was when an attempt began', async () => {
    const { call, flows, subscriptions, clock } = await startSubscriptions();
    const created = accepted(await flows.create(call, 'acme', { url }));
    const inFlight = await subscriptions.find('acme', created.id);
    await clock.advance(1_000);
    const rotated = accepted(await flows.rotate(call, 'acme', created.id, undefined));
    expect(inFlight).toMatchObject({ secret: created.secret });
    expect(inFlight?.previous).toBeUndefined();
    expect(await subscriptions.find('acme', created.id)).toMatchObject({
      secret: rotated.secret,
      previous: { secret: created.secret, untilMs: clock.nowMs() + 86_400_000 },
    });
  });

  test('twice counts only as the last one before', async () => {
    const { call, flows, subscriptions, clock } = await startSubscriptions();
    const { id } = accepted(await flows.create(call, 'acme', { url }));
    const first = accepted(await flows.rotate(call, 'acme', id, { gracePeriodSeconds: 604_800 }));
    const second = accepted(await flows.rotate(call, 'acme', id, { gracePeriodSeconds: 60 }));
    expect(await subscriptions.find('acme', id)).toMatchObject({
      secret: second.secret,
      previous: { secret: first.secret, untilMs: clock.nowMs() + 60_000 },
    });
  });

  test('without a grace period counts no more, nor does the one before', async () => {
    const { call, flows, subscriptions } = await startSubscriptions();
    const { id } = accepted(await flows.create(call, 'acme', { url }));
    accepted(await flows.rotate(call, 'acme', id, undefined));
    const rotated = accepted(await flows.rotate(call, 'acme', id, { gracePeriodSeconds: 0 }));
    const found = await subscriptions.find('acme', id);
    expect(found).toMatchObject({ secret: rotated.secret });
    expect(found?.previous).toBeUndefined();
  });

  test('stays with its predecessor when the subscription is changed', async () => {
    const { call, flows, subscriptions } = await startSubscriptions();
    const { id } = accepted(await flows.create(call, 'acme', { url }));
    accepted(await flows.rotate(call, 'acme', id, undefined));
    const before = await subscriptions.find('acme', id);
    accepted(await flows.replace(call, 'acme', id, { url: `${url}2` }));
    const { secret, previous, url: changed } = (await subscriptions.find('acme', id))!;
    expect({ secret, previous }).toEqual({ secret: before?.secret, previous: before?.previous });
    expect(changed).toBe(`${url}2`);
  });
});
