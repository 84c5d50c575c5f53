// The types of components: handlers get their types from the schemas, and misuse is a compile error. The compiler
// checks the expectations; running the tests shows that the definitions are valid.
import { Type } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { createService, defineEntity, get, post, type Result } from '../../../../host/embed.ts';

const Amount = Type.Object({ amount: Type.Integer() });
const Total = Type.Object({ total: Type.Integer(), parts: Type.Array(Amount) });

const sum = defineEntity({
  component: 'sum',
  state: { manifest: 'sum', schema: Total },
  event: {
    manifest: 'sum-event',
    schema: Type.Union([
      Type.Object({ type: Type.Literal('added'), amount: Type.Integer() }),
      Type.Object({ type: Type.Literal('cleared') }),
    ]),
  },
  empty: () => ({ total: 0, parts: [] }),
  apply(state, event) {
    expectTypeOf(event.type).toEqualTypeOf<'added' | 'cleared'>();
    // @ts-expect-error -- only one of the cases has it
    void event.amount;
    if (event.type === 'added') state.total += event.amount;
    return state;
  },
  commands: {
    add: {
      input: Amount,
      reply: Total,
      handle(state, input, context) {
        expectTypeOf(input).toEqualTypeOf<{ amount: number }>();
        const spoil = () => {
          // @ts-expect-error -- only apply changes the state
          state.total = 1;
          // @ts-expect-error -- nor what is in it
          state.parts.push(input);
          // @ts-expect-error -- it is no event
          context.persist({ type: 'gone' });
          // @ts-expect-error -- nor has it what the event has
          context.persist({ type: 'added' });
          // @ts-expect-error -- it is not what is replied
          context.reply({ total: '1' });
          return context.refuse('never');
        };
        return input.amount < 0
          ? spoil()
          : context.persist({ type: 'added', ...input }).thenReply(state);
      },
    },
    clear: {
      handle: (_state, context) => context.persist({ type: 'cleared' }).thenReply(),
    },
    unsound: {
      reply: Type.Integer(),
      // @ts-expect-error -- a command answers an effect or a refusal
      handle: (state) => state.total,
    },
  },
  queries: {
    get: { reply: Total, handle: (state) => state },
    spoiled: {
      reply: Type.Integer(),
      handle(state, context) {
        // @ts-expect-error -- a query makes nothing happen
        void context.persist;
        // @ts-expect-error -- nor does it ask for a deletion
        void context.deleteEntity;
        return state.total;
      },
    },
  },
});

describe('the types of components', () => {
  test('a service says where its journal is, and what of it stays unread', async () => {
    const parts = { name: 'types', entities: [sum], log: 'none' } as const;
    for (const create of [
      // @ts-expect-error -- nowhere
      () => createService(parts),
      // @ts-expect-error -- it may not be there
      () => createService({ ...parts, dataFolder: process.env['NO_SUCH_FOLDER'] }),
      // @ts-expect-error -- in two places
      () => createService({ ...parts, dataFolder: 'a', journal: 'memory' }),
    ])
      await expect(create()).rejects.toMatchObject({ code: 'SVC_SETTING_INVALID' });
    await using service = await createService({
      ...parts,
      journal: 'memory',
      // @ts-expect-error -- a journal in memory holds no events of former components
      ignoreComponents: ['a'],
    });
    expect(service.url).toBeUndefined();
  });

  test('a client has them from the definition', async () => {
    await using service = await createService({
      name: 'types',
      entities: [sum],
      journal: 'memory',
      log: 'none',
    });
    const client = service.call(sum, 'a');
    expectTypeOf(client.add).parameters.toEqualTypeOf<[input: { amount: number }]>();
    expectTypeOf(client.get).returns.toEqualTypeOf<
      Promise<Result<{ total: number; parts: { amount: number }[] }>>
    >();
    expectTypeOf(client.clear).parameters.toEqualTypeOf<[]>();
    expectTypeOf(client.clear).returns.toEqualTypeOf<Promise<Result<null>>>();
    // @ts-expect-error -- there is no such handler
    expect(client.take).toBeUndefined();
    expect(await client.add({ amount: 2 })).toMatchObject({ isOk: true, value: { total: 0 } });
    const [recorded] = await service.readEvents(sum, 'a');
    if (recorded?.event.type === 'added') expectTypeOf(recorded.event.amount).toBeNumber();
    expect(recorded).toMatchObject({ seq: 1, event: { type: 'added', amount: 2 } });
    const { add } = service.call(sum, 'b').withIdempotencyKey('k');
    expectTypeOf(add).toEqualTypeOf(client.add);
  });

  test('a handler of a route has them from path and schemas', () => {
    const route = post(
      '/{id}/parts/{part}',
      {
        parameters: { part: Type.Integer() },
        query: Type.Object({ limit: Type.Optional(Type.Integer()) }),
        body: Amount,
        reply: Total,
      },
      async ({ parameters, query, body }, { call }) => {
        expectTypeOf(parameters).toEqualTypeOf<{ readonly id: string; readonly part: number }>();
        expectTypeOf(query).toEqualTypeOf<{ limit?: number }>();
        expectTypeOf(body).toEqualTypeOf<{ amount: number }>();
        // @ts-expect-error -- the path has no such parameter
        void parameters.name;
        // @ts-expect-error -- the command takes another input
        void call(sum, parameters.id).add({ amount: 'much' });
        return call(sum, parameters.id).get();
      },
    );
    expect(route).toMatchObject({ method: 'POST', parameters: [{ name: 'id' }, { name: 'part' }] });
    const bytes = get('', { reply: 'bytes' }, ({ body }) => {
      expectTypeOf(body).toEqualTypeOf<undefined>();
      return new Uint8Array();
    });
    expect(bytes.reply).toEqual({ kind: 'bytes' });
    expect(() => {
      // @ts-expect-error -- the path has no parameter {name}
      get('/{id}', { parameters: { name: Type.Integer() } }, () => {});
    }).toThrow("the path has no parameter 'name'");
    // @ts-expect-error -- it answers something else
    expect(get('', { reply: Total }, () => 'text')).toBeDefined();
    // @ts-expect-error -- a GET has no body
    expect(get('', { body: Amount }, () => {})).toBeDefined();
  });
});
