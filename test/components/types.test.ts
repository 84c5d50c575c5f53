// The types of components: handlers get their types from the schemas, and misuse is a compile error. The compiler
// checks the expectations; running the tests shows that the definitions are valid.
import { Type } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  callOf,
  createService,
  defineConsumer,
  defineEntity,
  defineView,
  Due,
  type EndpointContext,
  get,
  type Page,
  post,
  type Result,
  type RowChange,
} from '../../host/embed.ts';

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

const marks = defineEntity({
  component: 'marks',
  state: { manifest: 'marks', schema: Type.Null() },
  event: {
    manifest: 'marks-event',
    schema: Type.Object({ type: Type.Literal('marked'), by: Type.String() }),
  },
  empty: () => null,
  apply: (state) => state,
  commands: {},
});
const markSource = {
  entity: marks,
  fold: (_row: unknown, _event: unknown, { keep }: Keeping) => keep(),
};
type Keeping = { readonly keep: () => RowChange<never> };

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

  test('a client has the commands of an entity of which none has an input or a reply', async () => {
    const lamp = defineEntity({
      component: 'lamp',
      state: { manifest: 'lamp', schema: Type.Object({ isOn: Type.Boolean() }) },
      event: { manifest: 'switched', schema: Type.Object({ type: Type.Literal('switched') }) },
      empty: () => ({ isOn: false }),
      apply: (state) => ({ isOn: !state.isOn }),
      commands: {
        turn: {
          handle: (state, { persist, self }) => {
            expectTypeOf(state.isOn).toBeBoolean();
            return persist({ type: 'switched' })
              .thenSetTimer('again', Due.after(60_000), self.turnBack())
              .thenReply();
          },
        },
        turnBack: { handle: (_state, { persist }) => persist({ type: 'switched' }).thenReply() },
      },
    });
    await using service = await createService({
      name: 'lamps',
      entities: [lamp],
      journal: 'memory',
      log: 'none',
    });
    const client = service.call(lamp, 'a');
    expectTypeOf(client.turn).parameters.toEqualTypeOf<[]>();
    expectTypeOf(client.turnBack).returns.toEqualTypeOf<Promise<Result<null>>>();
    // @ts-expect-error -- there is no such command
    expect(client.take).toBeUndefined();
    expectTypeOf(callOf(lamp, 'a').turn).parameters.toEqualTypeOf<[]>();
    expect(await client.turn()).toMatchObject({ isOk: true });
  });

  test('a timer has them from the command that it sends', () => {
    const calls = callOf(sum, 'a');
    expectTypeOf(calls.add).parameters.toEqualTypeOf<[input: { amount: number }]>();
    expectTypeOf(calls.clear).parameters.toEqualTypeOf<[]>();
    // @ts-expect-error -- a query is not sent by a timer
    expect(calls.get).toBeUndefined();
    // @ts-expect-error -- there is no such command
    expect(calls.take).toBeUndefined();
    // @ts-expect-error -- the command takes another input
    expect(() => calls.add({ amount: 'much' })).toThrow('amount: must be an integer');
    const reminding = defineEntity({
      component: 'reminding',
      state: { manifest: 'reminding', schema: Type.Null() },
      event: { manifest: 'reminded', schema: Type.Object({ type: Type.Literal('reminded') }) },
      empty: () => null,
      apply: (state) => state,
      commands: {
        plan: {
          reply: Total,
          handle: (_state, { setTimer, cancelTimer, self, refuse }) => {
            expectTypeOf(self.remind).parameters.toEqualTypeOf<[input: { amount: number }]>();
            expectTypeOf(self.plan).parameters.toEqualTypeOf<[]>();
            const spoil = () => {
              // @ts-expect-error -- the entity has no such command
              self.take();
              // @ts-expect-error -- a query is not sent by a timer
              self.get();
              // @ts-expect-error -- the command takes another input
              self.remind({ amount: '1' });
              // @ts-expect-error -- a name alone sends nothing
              setTimer('x', Due.after(1));
              // @ts-expect-error -- a number does not say what it counts
              setTimer('x', 900_000, self.plan());
              // @ts-expect-error -- the effect replies something else
              return cancelTimer('x').thenReply('text');
            };
            return spoil === undefined
              ? setTimer('x', Due.after(1), self.remind({ amount: 1 })).thenReply({
                  total: 1,
                  parts: [],
                })
              : refuse('never');
          },
        },
        remind: {
          input: Amount,
          handle: (_state, input, { persist, self }) =>
            persist({ type: 'reminded' })
              .thenSetTimer('again', Due.cron('@daily'), self.remind(input), { attempts: 3 })
              .thenReply(),
        },
      },
      queries: { get: { reply: Total, handle: () => ({ total: 1, parts: [] }) } },
    });
    expect(callOf(reminding, 'a').remind({ amount: 1 }).stored).toEqual({
      target: { component: 'reminding', id: 'a' },
      command: 'remind',
      input: '{"amount":1}',
    });
    const route = post('/{id}', {}, async ({ parameters: { id } }, { timers }) => {
      await timers.set('x', Due.every(1_000), callOf(reminding, id).plan());
      // @ts-expect-error -- the entity whose timer it is is missing
      await timers.cancel('x');
      return timers.cancel(reminding, id, 'x');
    });
    expect(route).toBeDefined();
  });

  test('a view has them from its row, its entities and its queries', async () => {
    const Sum = Type.Object({ amount: Type.Integer(), name: Type.String() });
    const sums = defineView({
      id: 'sums',
      version: '1',
      row: Sum,
      from: [
        {
          entity: sum,
          keys: (event, { entityId }) => {
            expectTypeOf(event.type).toEqualTypeOf<'added' | 'cleared'>();
            return [entityId];
          },
          fold(row, event, { put, remove, keep, key }) {
            expectTypeOf(row?.amount).toEqualTypeOf<number | undefined>();
            const spoil = () => {
              // @ts-expect-error -- a row is put, not changed
              row!.amount = 1;
              // @ts-expect-error -- the row has another type
              put({ amount: '1', name: key });
              // @ts-expect-error -- the row has more fields
              put({ amount: 1 });
              // @ts-expect-error -- only one of the cases has it
              return event.amount;
            };
            if (spoil === undefined) return keep();
            return event.type === 'added' ? put({ amount: event.amount, name: key }) : remove();
          },
        },
        {
          entity: marks,
          fold(_row, event, { keep }) {
            expectTypeOf(event).toEqualTypeOf<{ readonly type: 'marked'; readonly by: string }>();
            return keep();
          },
        },
      ],
      indexes: [['name', 'amount']],
      queries: {
        named: { where: 'name = :name', parameters: Type.Object({ name: Type.String() }) },
        all: { where: '' },
      },
    });
    const unsound = { id: 'unsound', version: '1', row: Sum } as const;
    // @ts-expect-error -- the row has no such field
    defineView({ ...unsound, from: [markSource], indexes: [['age']] });
    // @ts-expect-error -- a fold answers a change of the row
    defineView({ ...unsound, from: [{ entity: marks, fold: (row) => row }] });
    // @ts-expect-error -- a view has a version
    expect(() => defineView({ id: 'unsound', row: Sum, from: [markSource] })).toThrow('no version');
    const asked = async ({ view }: EndpointContext) => {
      expectTypeOf(view(sums).named).parameters.toEqualTypeOf<
        [parameters: { name: string }, limit?: number, cursor?: string]
      >();
      expectTypeOf(view(sums).all).parameters.toEqualTypeOf<[limit?: number, cursor?: string]>();
      expectTypeOf(view(sums).all).returns.toEqualTypeOf<
        Promise<Result<Page<{ amount: number; name: string }>>>
      >();
      // @ts-expect-error -- the view has no such query
      void view(sums).byName;
      // @ts-expect-error -- the query takes another parameter
      await view(sums).named({ name: 1 });
      // @ts-expect-error -- the parameters are missing
      await view(sums).named(50);
      // @ts-expect-error -- an entity is no view
      view(sum);
    };
    expect(asked).toBeDefined();
    expect([...sums.sources.keys()]).toEqual(['sum', 'marks']);
  });

  test('a consumer has them from its entities', () => {
    const consumer = defineConsumer({
      id: 'marking',
      start: 'beginning',
      on: [
        {
          entity: sum,
          async handle(event, { call, done, retry }) {
            expectTypeOf(event.type).toEqualTypeOf<'added' | 'cleared'>();
            // @ts-expect-error -- the entity has no such command
            void call(sum, 'a').take;
            const cleared = await call(sum, 'a').clear();
            return cleared.isOk ? done() : retry(cleared.message);
          },
        },
        {
          entity: marks,
          handle(event, { skip }) {
            expectTypeOf(event).toEqualTypeOf<{ readonly type: 'marked'; readonly by: string }>();
            return skip(event.by);
          },
        },
      ],
    });
    expect(() =>
      // @ts-expect-error -- it does not say where it starts
      defineConsumer({
        id: 'unsound',
        on: [{ entity: sum, handle: (_event, { done }) => done() }],
      }),
    ).toThrow('where it starts');
    defineConsumer({
      id: 'unsound',
      start: 'now',
      // @ts-expect-error -- a consumer answers a verdict
      on: [{ entity: sum, handle: () => true }],
    });
    expect(consumer.start).toBe('beginning');
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
