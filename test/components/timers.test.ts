// Timers of TypeScript components: due times, calls with their inputs, and mistakes of programs.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import type { HostCalls } from '../../model/guest.ts';
import type { CallingContext } from '../../components/calling-context.ts';
import { callOf } from '../../components/deferred-calls.ts';
import { Due } from '../../components/due.ts';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import type { CommandContext } from '../../components/entity-context.ts';
import { defineEntity } from '../../components/entity-definition.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { SvcError } from '../../kit/svc-error.ts';
import { handledByRoute } from './support/one-route.ts';
import { order } from './support/order.ts';

const context = { nowMs: 5, seed: 7n, metadata: [] } as const;
const Event = Type.Object({ type: Type.Literal('noted') });
type Context = CommandContext<Type.Static<typeof Event>, null, null>;

/** Runs a command of entity 'n1' that answers what the function does. */
async function decided(handle: (context: Context) => unknown) {
  const note = defineEntity({
    component: 'note',
    state: { manifest: 'note', schema: Type.Null() },
    event: { manifest: 'note-event', schema: Event },
    empty: () => null,
    apply: (state) => state,
    commands: { write: { handle: (_state, given) => handle(given) as never } },
  });
  const guest = createEmbeddedGuest({ entities: [note, order] });
  const entity = guest.entities.open({ component: 'note', id: 'n1' }, undefined);
  return entity.command(context, 'write', 'null');
}

const timer = (due: unknown, other: object = {}) => ({
  kind: 'set',
  timer: {
    name: 'x',
    target: { component: 'order', id: 'o1' },
    command: 'expire',
    input: 'null',
    due,
    ...other,
  },
});

describe('timers of a command', () => {
  test.each([
    ['a date', Due.at(new Date(1_000)), { kind: 'at', atMs: 1_000 }],
    ['milliseconds since 1970', Due.at(1_000), { kind: 'at', atMs: 1_000 }],
    ['a time before 1970', Due.at(new Date(-1)), { kind: 'at', atMs: 0 }],
    ['a pause', Due.after(900_000), { kind: 'after', afterMs: 900_000 }],
    ['a fraction', Due.after(1.2), { kind: 'after', afterMs: 2 }],
    ['a period', Due.every(1_000), { kind: 'every', everyMs: 1_000 }],
    [
      'a cron expression',
      Due.cron('0 9 * * *', 'Europe/Berlin'),
      { kind: 'cron', expression: '0 9 * * *', zone: 'Europe/Berlin' },
    ],
    [
      'a cron expression without a zone',
      Due.cron('@daily'),
      { kind: 'cron', expression: '@daily', zone: 'UTC' },
    ],
  ])('are due at %s', async (_what, due, stored) => {
    const effect = await decided((given) =>
      given.setTimer('x', due, callOf(order, 'o1').expire()).thenReply(),
    );
    expect(effect).toMatchObject({ timers: [timer(stored)] });
  });

  test('call any entity, with the input as its schema writes it, and in the order of their changes', async () => {
    const place = callOf(order, 'o2').place({ cents: 2n ** 60n });
    const effect = await decided((given) =>
      given
        .cancelTimer('first')
        .thenSetTimer('x', Due.after(1), callOf(order, 'o1').expire(), { attempts: 3 })
        .thenPersist({ type: 'noted' })
        .thenSetTimer('y', Due.after(2), place)
        .thenDelete()
        .thenCancelTimer('last')
        .thenReply(),
    );
    const due = { kind: 'after', afterMs: 2 };
    const target = { component: 'order', id: 'o2' };
    const input = '{"cents":"1152921504606846976"}';
    expect(effect).toMatchObject({
      events: [{ json: '{"type":"noted"}' }],
      actions: [{ kind: 'delete-entity' }],
      timers: [
        { kind: 'cancel', name: 'first' },
        timer({ kind: 'after', afterMs: 1 }, { attempts: 3 }),
        { kind: 'set', timer: { name: 'y', target, command: 'place', input, due } },
        { kind: 'cancel', name: 'last' },
      ],
    });
  });

  test('an effect is not changed by what is added to its change later', async () => {
    const effect = await decided((given) => {
      const change = given.cancelTimer('a');
      const made = change.thenReply();
      change.thenCancelTimer('b');
      return made;
    });
    expect(effect).toMatchObject({ timers: [{ name: 'a' }] });
  });

  const faulty: readonly [string, (given: Context) => unknown, string][] = [
    [
      'an input that does not fit the command',
      ({ setTimer }) =>
        setTimer('x', Due.after(1), callOf(order, 'o1').place({ cents: 1 as never })),
      'cents: must be a bigint, found 1',
    ],
    [
      'a due time of its own making',
      ({ setTimer }) => setTimer('x', { afterMs: 1 } as never, callOf(order, 'o1').expire()),
      "timer 'x': its due time is not one of Due",
    ],
    [
      'a call that is none',
      ({ setTimer }) => setTimer('x', Due.after(1), order as never),
      "timer 'x': its call is not one of callOf(entity, id) or self",
    ],
    [
      'a name that is no text',
      ({ cancelTimer }) => cancelTimer(1 as never),
      'a text, found number',
    ],
  ];
  test.each(faulty)('are a fault with %s', async (_what, handle, problem) => {
    const fault = await decided(handle).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(GuestFault);
    const { message, guestMessage = '' } = fault as GuestFault;
    expect(`${message} ${guestMessage}`).toContain(problem);
  });
});

const handled = (
  handle: (given: CallingContext) => Promise<void>,
  calls: Partial<HostCalls> = {},
) => handledByRoute({ entities: [order] }, handle, calls);
const set = ({ timers }: CallingContext) =>
  timers.set('x', Due.after(1), callOf(order, 'o1').expire());

describe('timers of a handler', () => {
  test('are on disk when the promise resolves', async () => {
    const disk = Promise.withResolvers<void>();
    const seen: string[] = [];
    const answer = handled(
      async ({ timers }) => {
        await timers.set('x', Due.after(1), callOf(order, 'o1').expire(), { attempts: 2 });
        seen.push('set');
      },
      {
        setTimer: (made) => {
          seen.push(`${made.name} ${made.attempts}`);
          return disk.promise;
        },
      },
    );
    await Promise.resolve();
    expect(seen).toEqual(['x 2']);
    disk.resolve();
    expect(await answer).toMatchObject({ kind: 'response', status: 204 });
    expect(seen).toEqual(['x 2', 'set']);
  });

  test('pass the failure of the change on', async () => {
    const full = new SvcError('SVC_TIMERS_FULL', 'full');
    await expect(
      handled(set, {
        setTimer: () => {
          throw full;
        },
      }),
    ).rejects.toBe(full);
    await expect(
      handled(({ timers }) => timers.cancel(order, 'o1', 'x'), {
        cancelTimer: () => Promise.reject(full),
      }),
    ).rejects.toBe(full);
  });

  test('are a fault for an entity that the service does not have', async () => {
    const other = { ...order };
    await expect(handled(({ timers }) => timers.cancel(other, 'o1', 'x'))).rejects.toMatchObject({
      guestMessage: expect.stringContaining("component 'order' is none of this service's entities"),
    });
  });
});
