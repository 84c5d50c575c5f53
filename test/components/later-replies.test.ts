// Commands of embedded entities whose reply is computed from the state after their events.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  createService,
  defineEntity,
  GuestFault,
  type LogEntry,
  SvcError,
} from '../../host/embed.ts';

const Amount = Type.Object({ amount: Type.Integer() });
const Total = Type.Object({ total: Type.Integer(), parts: Type.Array(Type.Integer()) });

const sum = defineEntity({
  component: 'sum',
  state: { manifest: 'sum', schema: Total },
  event: {
    manifest: 'sum-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('added'), amount: Type.Integer() })]),
  },
  empty: () => ({ total: 0, parts: [] }),
  apply(state, { amount }) {
    state.total += amount;
    state.parts.push(amount);
    return state;
  },
  commands: {
    add: {
      input: Amount,
      reply: Total,
      handle: (_state, { amount }, { persist }) =>
        persist({ type: 'added', amount }).thenReplyState(),
    },
    addAndCount: {
      input: Amount,
      reply: Type.String(),
      handle: (_state, { amount }, { persist, entityId }) =>
        persist({ type: 'added', amount }).thenReplyFrom(
          (after) => `${entityId}: ${after.parts.length}`,
        ),
    },
    addAndGo: {
      input: Amount,
      reply: Total,
      handle: (_state, { amount }, { persist }) =>
        persist({ type: 'added', amount }).thenDelete().thenReplyState(),
    },
    add2: {
      reply: Type.Integer(),
      handle(_state, { persist }) {
        // @ts-expect-error -- the state is no reply of this command
        void (() => persist({ type: 'added', amount: 2 }).thenReplyState());
        // @ts-expect-error -- nor is a text
        void (() => persist({ type: 'added', amount: 2 }).thenReplyFrom(() => ''));
        return persist({ type: 'added', amount: 2 }).thenReplyFrom((state) => {
          // @ts-expect-error -- only apply changes a state
          void (() => state.parts.push(1));
          return state.total;
        });
      },
    },
    spoil: {
      reply: Type.Integer(),
      handle: (_state, { persist }) =>
        persist({ type: 'added', amount: 1 }).thenReplyFrom((state) => {
          (state.parts as number[]).pop();
          return state.total;
        }),
    },
    fail: {
      reply: Type.Integer(),
      handle: (_state, { persist }) =>
        persist({ type: 'added', amount: 1 }).thenReplyFrom(() => {
          throw new Error('a secret');
        }),
    },
    wait: {
      reply: Type.Integer(),
      handle: (_state, { persist }) =>
        persist({ type: 'added', amount: 1 }).thenReplyFrom((async () => 1) as never),
    },
    misfit: {
      reply: Type.Integer(),
      handle: (_state, { persist }) =>
        persist({ type: 'added', amount: 1 }).thenReplyFrom(() => 0.5),
    },
  },
  queries: { get: { reply: Total, handle: (state) => state } },
});

function opened(log: (entry: LogEntry) => void = () => {}) {
  return createService({ name: 'replies', entities: [sum], journal: 'memory', log });
}

describe('a command of an embedded entity', () => {
  test('replies with the state after its events, or with what a function makes of it', async () => {
    await using service = await opened();
    const a = service.call(sum, 'a');
    expect(await a.add({ amount: 3 })).toMatchObject({ value: { total: 3, parts: [3] } });
    expect(await a.addAndCount({ amount: 4 })).toMatchObject({ value: 'a: 2' });
    expect(await a.add2()).toMatchObject({ value: 9 });
    expect(await a.addAndGo({ amount: 1 })).toMatchObject({ value: { total: 10 } });
    expect(await a.get()).toMatchObject({ value: { total: 0 } });
  });

  test.each([
    ['spoil', /the reply of command 'spoil' .* changed the state it was given, at parts/],
    ['fail', /the reply of command 'fail' of component 'sum'/],
    ['wait', /the reply of command 'wait' of component 'sum'/],
    ['misfit', /the reply of command 'misfit' of component 'sum'/],
  ] as const)('whose reply cannot be computed has not happened: %s', async (name, message) => {
    const errors: unknown[] = [];
    await using service = await opened(({ fields }) => errors.push(JSON.stringify(fields)));
    const a = service.call(sum, 'a');
    await a.add({ amount: 3 });
    const failure = await a[name]().then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    expect(failure?.message).toMatch(message);
    expect(failure?.message).not.toContain('secret');
    expect(failure).toBeInstanceOf(name === 'spoil' ? SvcError : GuestFault);
    expect(errors).toHaveLength(1);
    expect(await a.get()).toMatchObject({ value: { total: 3, parts: [3] } });
    expect(await service.readEvents(sum, 'a')).toHaveLength(1);
  });
});
