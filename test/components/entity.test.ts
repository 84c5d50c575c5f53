// EmbeddedEntity: the context of a handler, faults of the program, and which results are stored.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import type { CommandContext } from '../../components/entity-context.ts';
import { defineEntity } from '../../components/entity-definition.ts';
import type { StoredEvent } from '../../model/entity.ts';
import { GuestFault } from '../../model/guest-fault.ts';

const Count = Type.Object({ value: Type.Integer() });
type Count = Type.Static<typeof Count>;
const Added = Type.Object({ type: Type.Literal('added'), amount: Type.Integer() });
type Context = CommandContext<Type.Static<typeof Added>, number[]>;

const context = { nowMs: 5, seed: 7n, metadata: [['traceparent', 't']] } as const;
const added = (amount: number): StoredEvent => ({
  manifest: 'count-event',
  json: JSON.stringify({ type: 'added', amount }),
});

/** An entity whose only command runs the given function. */
function open(
  handle: (state: Count, context: Context) => unknown,
  other: { empty?: () => Count; apply?: (state: Count, event: { amount: number }) => Count } = {},
) {
  const entity = defineEntity({
    component: 'count',
    state: { manifest: 'count', schema: Count },
    event: { manifest: 'count-event', schema: Added },
    empty: other.empty ?? (() => ({ value: 0 })),
    apply: other.apply ?? (({ value }, { amount }) => ({ value: value + amount })),
    commands: { do: { reply: Type.Array(Type.Number()), handle: handle as never } },
    queries: { get: { reply: Count, handle: (state) => state } },
  });
  const guest = createEmbeddedGuest({ entities: [entity] });
  return async () => guest.entities.open({ component: 'count', id: 'a' }, undefined);
}

// oxlint-disable-next-line unicorn/no-thenable -- it is what is tried
const awaited = () => ({ then: () => {} });
const unreadable = Object.defineProperty(new Error('e'), 'stack', {
  get: () => {
    throw new Error('not even this');
  },
});
const forEver = (state: Count, given: Context): unknown => forEver(state, given);

const faultOf = async (run: () => unknown): Promise<unknown> => {
  try {
    await run();
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('a command', () => {
  test('has its entity, time, chance and metadata', async () => {
    const seen: unknown[] = [];
    const entity = await open((_state, given) => {
      seen.push(
        given.entityId,
        given.nowMs,
        given.seed,
        given.metadata('traceparent'),
        given.metadata('x'),
      );
      return given.reply([given.random(), given.random()]);
    })();
    const [one, two] = [
      entity.command(context, 'do', 'null'),
      entity.command(context, 'do', 'null'),
    ];
    expect(seen.slice(0, 5)).toEqual(['a', 5, 7n, 't', undefined]);
    expect(one).toEqual(two);
    const other = entity.command({ ...context, seed: 8n }, 'do', 'null');
    expect(other).not.toEqual(one);
  });

  test('persists several events in their order, deletes, and replies', async () => {
    const deciding = await open((_state, given) =>
      given
        .persistAll([
          { type: 'added', amount: 1 },
          { type: 'added', amount: 2 },
        ])
        .thenPersist({ type: 'added', amount: 3 })
        .thenDelete()
        .thenReply([1]),
    )();
    expect(deciding.command(context, 'do', 'null')).toEqual({
      kind: 'effect',
      events: [added(1), added(2), added(3)],
      actions: [{ kind: 'delete-entity' }],
      reply: '[1]',
    });
    const deleting = await open((_state, given) => given.deleteEntity().thenReply([]))();
    expect(deleting.command(context, 'do', 'null')).toMatchObject({
      events: [],
      actions: [{ kind: 'delete-entity' }],
    });
  });

  test('stores an event as it was when it was persisted', async () => {
    const entity = await open((_state, { persist }) => {
      const event = { type: 'added', amount: 1 } as const;
      const change = persist(event);
      (event as { amount: number }).amount = 99;
      return change.thenReply([]);
    })();
    expect(entity.command(context, 'do', 'null')).toMatchObject({ events: [added(1)] });
  });
});

test('an event of another manifest is not folded', async () => {
  const entity = await open(() => {})();
  expect(entity.apply([{ ...added(1), manifest: 'other-event' }], undefined)).toBe(
    "event 1 of 1: its manifest is 'other-event', this component stores 'count-event'",
  );
});

test('what is added to a change after its reply is stored nowhere', async () => {
  const entity = await open((_state, { persist }) => {
    const change = persist({ type: 'added', amount: 1 });
    const effect = change.thenReply([]);
    change.thenPersist({ type: 'added', amount: 99 }).thenDelete();
    return effect;
  })();
  expect(entity.command(context, 'do', 'null')).toMatchObject({
    events: [added(1)],
    actions: [],
  });
});

describe('the fault of', () => {
  test.each<readonly [string, (state: Count, context: Context) => unknown, string, string]>([
    [
      'a handler that throws',
      () => {
        throw new Error('a secret');
      },
      'trap',
      'threw an error',
    ],
    ['a handler that calls itself for ever', forEver, 'stack', 'threw an error'],
    ['an async handler', async () => {}, 'trap', 'threw an error'],
    ['a handler that answers what can be awaited', awaited, 'trap', 'threw an error'],
    ...[undefined, null, 1, Symbol('s'), Object.create(null), unreadable].map(
      (thrown: unknown, index) =>
        [
          `a handler that throws no error (${index})`,
          () => {
            throw thrown;
          },
          'trap',
          'threw an error',
        ] as const,
    ),
    [
      'a refusal with a code that there is not',
      (_state, given) => given.refuse('no', 'constructor' as never),
      'trap',
      'threw an error',
    ],
    ['a handler that answers a plain value', () => ({ value: 1 }), 'trap', 'threw an error'],
    [
      'an event that does not fit',
      (_state, given) => given.persist({ type: 'added', amount: 0.5 }).thenReply([]),
      'value',
      'amount: must be an integer',
    ],
    [
      'a reply that does not fit',
      (_state, given) => given.reply(['1'] as never),
      'value',
      '[0]: must be a number',
    ],
  ])('%s drops its entity, and tells the log alone', async (_what, handle, faultCause, message) => {
    const opened = open(handle);
    const [entity, other] = [await opened(), await opened()];
    const fault = await faultOf(() => entity.command(context, 'do', 'null'));
    expect(fault).toBeInstanceOf(GuestFault);
    expect(fault).toMatchObject({ faultCause });
    expect((fault as GuestFault).message).toMatch(/^command 'do' of component 'count' /);
    expect((fault as GuestFault).message.includes(message) || message.startsWith('event')).toBe(
      true,
    );
    expect((fault as GuestFault).message).not.toContain('secret');
    expect([entity.lost, other.lost]).toEqual([true, false]);
  });

  test('apply drops its entity', async () => {
    const entity = await open(() => {}, {
      apply: () => {
        throw new Error('a bad fold');
      },
    })();
    expect(await faultOf(() => entity.apply([added(1)], undefined))).toMatchObject({
      guestMessage: expect.stringContaining('a bad fold'),
    });
    expect(entity.lost).toBe(true);
  });

  test.each([
    ['nothing', () => undefined, 'it answered nothing: return the state'],
    ['a promise', async () => ({ value: 1 }), 'apply answered a promise'],
  ])('apply that answers %s drops its entity', async (_what, apply, guestMessage) => {
    const entity = await open(() => {}, { apply: apply as never })();
    expect(await faultOf(() => entity.apply([added(1)], undefined))).toMatchObject({
      guestMessage: expect.stringContaining(guestMessage),
    });
    expect(entity.lost).toBe(true);
  });

  test('an empty state that does not fit is reported when an entity is opened', async () => {
    const opened = open(() => {}, { empty: () => ({ value: 0.5 }) });
    expect(await faultOf(opened)).toMatchObject({
      faultCause: 'value',
      message: expect.stringContaining('value: must be an integer'),
    });
  });
});

test('an empty state that a program keeps for itself is no other entity', async () => {
  const shared = { value: 0 };
  const opened = open(() => {}, {
    empty: () => shared,
    apply: (state, { amount }) => {
      state.value += amount;
      return state;
    },
  });
  const [one, two] = [await opened(), await opened()];
  one.apply([added(5)], undefined);
  expect(two.query(context, 'get', 'null')).toMatchObject({
    kind: 'reply',
    json: '{"value":0}',
  });
  expect(shared).toEqual({ value: 0 });
});

const problem = (message: string): unknown =>
  expect.objectContaining({
    code: 'SVC_DEFINITION_INVALID',
    message: expect.stringContaining(message),
  });

describe('a definition that cannot be', () => {
  const parts = {
    component: 'x',
    state: { manifest: 'x', schema: Count },
    empty: () => ({ value: 0 }),
    apply: (state: Count) => state,
  };

  test('an event without a type', () => {
    const event = { manifest: 'x-event', schema: Count };
    expect(() => defineEntity({ ...parts, event, commands: {} })).toThrow(
      problem("it is no union of objects whose field 'type' is a Literal"),
    );
  });

  test("a handler with a client's name", () => {
    const event = { manifest: 'x-event', schema: Added };
    expect(() =>
      defineEntity({
        ...parts,
        event,
        commands: { events: { handle: (_state, given) => given.reply() } },
      }),
    ).toThrow(problem("'events' is taken"));
  });
});
