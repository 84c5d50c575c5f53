// What every hosting has to keep of timers, with the order of fixtures/expiring-order, which expires unless it is paid:
// the changes of timers that a command's effect contains, and those that a handler makes at once.
import { describe, expect, test } from 'vitest';
import type { Guest, GuestEntity, HostCalls } from '../../model/guest.ts';
import type { StoredEvent } from '../../model/entity.ts';
import { answering, context, opened, request, routeOf } from './hosting-suite.ts';

const expire = (due: unknown) => ({
  kind: 'set',
  timer: {
    name: 'expire',
    target: { component: 'order', id: 'o1' },
    command: 'expire',
    input: 'null',
    due,
  },
});
const placed: StoredEvent = { manifest: 'order-event', json: '{"type":"placed","cents":1}' };

const changing = () => {
  const made: unknown[] = [];
  const calls: HostCalls = {
    ...answering({ kind: 'reply', json: 'null' }),
    setTimer: async (timer) => void made.push(timer),
    cancelTimer: async (...timer) => void made.push(timer),
  };
  return { made, calls };
};
const orderRoute = (guest: Guest, method: string, path: string) => ({
  ...request(routeOf(guest, method, path)),
  parameters: ['o1'],
});

/** `openOrder` gives a fresh guest that serves the order of fixtures/. */
export function hostingTimerSuite(hosting: string, openOrder: () => Promise<Guest>): void {
  const open = async (...events: readonly StoredEvent[]): Promise<GuestEntity> => {
    const guest = await opened(openOrder);
    const entity = await guest.entities.open({ component: 'order', id: 'o1' }, undefined);
    expect(await entity.apply(events, undefined)).toBeUndefined();
    return entity;
  };

  describe(`${hosting}: timers of a command`, () => {
    test('a command sets a timer of its entity with its events', async () => {
      const entity = await open();
      expect(await entity.command(context, 'place', '{"cents":1}')).toMatchObject({
        events: [placed],
        timers: [expire({ kind: 'after', afterMs: 900_000 })],
      });
    });

    test('a command cancels timers, in its order', async () => {
      const entity = await open(placed);
      expect(await entity.command(context, 'pay', 'null')).toMatchObject({
        events: [{ json: '{"type":"paid"}' }],
        timers: [
          { kind: 'cancel', name: 'expire' },
          { kind: 'cancel', name: 'remind' },
        ],
      });
    });

    test('a command sets a timer and persists nothing', async () => {
      const entity = await open(placed);
      const until = '"2026-02-28T12:30:00+01:00"';
      const atMs = Date.UTC(2026, 1, 28, 11, 30);
      expect(await entity.command(context, 'extend', until)).toMatchObject({
        events: [],
        actions: [],
        timers: [expire({ kind: 'at', atMs })],
      });
    });

    test('an effect without timers has none, also of a command that deletes', async () => {
      const entity = await open(placed);
      for (const [name, input] of [
        ['remind', '{"text":"pay"}'],
        ['cancel', 'null'],
      ] as const) {
        const effect = await entity.command(context, name, input);
        expect(effect).toMatchObject({ kind: 'effect' });
        expect(effect).not.toHaveProperty(['timers', 0]);
      }
    });
  });

  describe(`${hosting}: timers of a handler`, () => {
    test('a handler sets a timer of the entity that it calls', async () => {
      const { made, calls } = changing();
      const guest = await opened(openOrder);
      const body = { kind: 'json', text: '{"text":"ä 漢 🎉"}' } as const;
      const route = { ...orderRoute(guest, 'PUT', '/orders/{id}/reminders'), body };
      expect(await guest.endpoints.handle(context, route, calls)).toMatchObject({
        kind: 'response',
      });
      expect(made).toMatchObject([
        {
          name: 'remind',
          target: { component: 'order', id: 'o1' },
          command: 'remind',
          input: body.text,
          due: { kind: 'cron', expression: '0 9 * * *', zone: 'Europe/Berlin' },
        },
      ]);
    });

    test('a handler cancels a timer of an entity', async () => {
      const { made, calls } = changing();
      const guest = await opened(openOrder);
      const route = orderRoute(guest, 'DELETE', '/orders/{id}/reminders');
      expect(await guest.endpoints.handle(context, route, calls)).toMatchObject({
        kind: 'response',
      });
      expect(made).toEqual([[{ component: 'order', id: 'o1' }, 'remind']]);
    });
  });
}
