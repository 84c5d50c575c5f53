// A tally: the components of the conformance suite in TypeScript, whose answers the transcripts of test/suites/process-protocol/ have.
import { Type } from 'typebox';
import {
  callOf,
  defineConsumer,
  defineEndpoint,
  defineEntity,
  defineView,
  Due,
  get,
  GuestFault,
  post,
  put,
  refuse,
  respond,
} from '../../../../process-sdk/typescript/index.ts';

const Amount = Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 });
const Add = Type.Object({ amount: Amount });
const AddAll = Type.Object({ amounts: Type.Array(Amount) });
const Note = Type.Object({ text: Type.String() });
const Length = Type.Object({ length: Type.Integer() });
const Tally = Type.Object({
  id: Type.String(),
  total: Type.Integer(),
  notes: Type.Array(Type.String()),
});
const TallyState = Type.Object({ total: Type.Integer(), notes: Type.Array(Type.String()) });
const TallyEvent = Type.Union([
  Type.Object({ type: Type.Literal('added'), amount: Amount }),
  Type.Object({ type: Type.Literal('noted'), text: Type.String() }),
  Type.Object({ type: Type.Literal('broken') }),
]);

const tally = defineEntity({
  component: 'tally',
  state: { manifest: 'tally-state', schema: TallyState },
  event: { manifest: 'tally-event', schema: TallyEvent },
  empty: () => ({ total: 0, notes: [] }),
  apply(state, event) {
    if (event.type === 'added') return { ...state, total: state.total + event.amount };
    if (event.type === 'noted') return { ...state, notes: [...state.notes, event.text] };
    throw new Error('this event cannot be applied');
  },
  commands: {
    add: {
      input: Add,
      reply: Type.Integer(),
      handle(state, { amount }, { persist, refuse: refused }) {
        if (amount <= 0) return refused('amount: must be positive');
        return persist({ type: 'added', amount }).thenReply(state.total + amount);
      },
    },
    addAll: {
      input: AddAll,
      handle: (_state, { amounts }, { persistAll }) =>
        persistAll(amounts.map((amount) => ({ type: 'added', amount }) as const)).thenReply(),
    },
    note: {
      input: Note,
      handle: (_state, { text }, { persist }) => persist({ type: 'noted', text }).thenReply(),
    },
    draw: {
      handle(_state, { persist, random, nowMs, metadata }) {
        const text = `${nowMs} ${metadata('traceparent') ?? 'none'} ${random()}`;
        return persist({ type: 'noted', text }).thenReply();
      },
    },
    close: {
      handle: (_state, { refuse: refused }) =>
        refused('the tally is open', 'OTHER', { otherCode: 'open', details: { limit: 3 } }),
    },
    remind: {
      handle: (_state, { setTimer, self }) =>
        setTimer('remind', Due.after(60_000), self.note({ text: 'reminded' }))
          .thenCancelTimer('other')
          .thenReply(),
    },
    nothing: { handle: (_state, { reply }) => reply() },
    remove: { handle: (_state, { deleteEntity }) => deleteEntity().thenReply() },
    fail: {
      handle() {
        throw new Error('this command fails');
      },
    },
    break: { handle: (_state, { persist }) => persist({ type: 'broken' }).thenReply() },
  },
  queries: {
    get: { reply: Tally, handle: (state, { entityId }) => ({ id: entityId, ...state }) },
    text: {
      input: Length,
      reply: Type.String(),
      handle: (_state, { length }) => 'x'.repeat(length),
    },
  },
});

const TotalRow = Type.Object({ total: Type.Integer() });
const totals = defineView({
  id: 'totals',
  version: '1',
  row: TotalRow,
  from: [
    {
      entity: tally,
      keys: (event, { entityId }) => (event.type === 'added' ? [entityId, 'all'] : []),
      fold: (row, event, { put: store, keep }) =>
        event.type === 'added' ? store({ total: (row?.total ?? 0) + event.amount }) : keep(),
    },
  ],
  indexes: [['total']],
  queries: {
    large: { where: 'total > :least', parameters: Type.Object({ least: Type.Integer() }) },
  },
});

const mirror = defineConsumer({
  id: 'mirror',
  start: 'beginning',
  on: [
    {
      entity: tally,
      async handle(event, { call, done, retry, skip }) {
        if (event.type === 'noted') return skip(`note '${event.text}'`);
        if (event.type === 'broken') return refuse('it is broken', 'CONFLICT');
        const added = await call(tally, 'mirror').add({ amount: event.amount });
        return added.isOk ? done() : retry(added.message, 5_000);
      },
    },
  ],
});

const endpoint = defineEndpoint({
  name: 'TallyEndpoint',
  prefix: '/tallies',
  access: 'internet',
  routes: {
    get: get('/{id}', { reply: Tally }, ({ parameters: { id } }, { call }) =>
      call(tally, id).get(),
    ),
    add: post(
      '/{id}/add',
      { body: Add, reply: Type.Integer() },
      async ({ parameters: { id }, body }, { call }) => {
        const added = await call(tally, id).add(body);
        return added.isOk ? respond(added.value, { status: 201, headers: { 'x-id': id } }) : added;
      },
    ),
    pair: get(
      '/{id}/pair',
      { reply: Type.Array(Type.Integer()) },
      async ({ parameters: { id } }, { call }) => {
        const pair = await Promise.all([call(tally, id).get(), call(tally, 'other').get()]);
        return pair.map((one) => (one.isOk ? one.value.total : -1));
      },
    ),
    twice: get('/{id}/twice', {}, async ({ parameters: { id } }, { call }) => {
      await call(tally, id).add({ amount: 1 });
      await call(tally, id).add({ amount: 2 });
      return null;
    }),
    caught: get('/{id}/caught', { reply: 'text' }, async ({ parameters: { id } }, { call }) => {
      try {
        await call(tally, id).get();
        return 'it did not fail';
      } catch {
        return 'it failed';
      }
    }),
    history: get(
      '/{id}/history',
      { reply: Type.Array(Type.Integer()) },
      async ({ parameters: { id } }, { call }) => {
        const events = await call(tally, id).events(2, 10);
        return events.map(({ seq }) => seq);
      },
    ),
    remind: put('/{id}/reminder', {}, ({ parameters: { id } }, { timers }) =>
      timers.set('remind', Due.after(60_000), callOf(tally, id).note({ text: 'reminded' })),
    ),
    time: get('/{id}/time', { reply: Type.Array(Type.Integer()) }, async (request, context) => {
      const before = context.nowMs;
      await context.call(tally, request.parameters.id).get();
      return [before, context.nowMs];
    }),
    rate: get('/{id}/rate', { reply: 'text' }, async ({ parameters: { id } }, { service }) => {
      const response = await service('rates').request('GET', `/rates/${id}`);
      return `${response.status} ${response.text()}`;
    }),
    large: get('/{id}/large', { reply: Type.Integer() }, async (_request, { view }) => {
      const page = await view(totals).large({ least: 2 }, 5);
      return page.isOk ? page.value.rows.length : -1;
    }),
    fail: get('/{id}/fail', {}, () => {
      throw new GuestFault('limit', 'this handler fails');
    }),
    scoped: get('/{id}/scoped', {}, async ({ parameters: { id } }, context) => {
      try {
        await context.call(tally, id).get();
      } finally {
        context.scopeIdempotencyKey('late');
      }
      return null;
    }),
  },
});

export const components = {
  entities: [tally],
  endpoints: [endpoint],
  views: [totals],
  consumers: [mirror],
  version: '1',
};
