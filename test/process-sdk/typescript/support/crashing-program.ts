// A program that serves notes in a process of its own, and ends the process at some of them: at a command, in a consumer, or in a view.
import { Type } from 'typebox';
import {
  defineConsumer,
  defineEndpoint,
  defineEntity,
  defineView,
  post,
  serveProcess,
} from '../../../../process-sdk/typescript/index.ts';

const Written = Type.Object({ type: Type.Literal('written'), text: Type.String() });
const Text = Type.Object({ text: Type.String() });
const Notes = Type.Object({ count: Type.Integer({ minimum: 0, maximum: 1_000_000 }) });

function end(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('a process that was killed goes on');
}

const notes = defineEntity({
  component: 'notes',
  state: { manifest: 'notes-state', schema: Notes },
  event: { manifest: 'notes-event', schema: Type.Union([Written]) },
  empty: () => ({ count: 0 }),
  apply: ({ count }) => ({ count: count + 1 }),
  commands: {
    write: {
      input: Text,
      reply: Notes,
      handle({ count }, { text }, context) {
        if (text === 'ends the command') end();
        const event = { type: 'written', text } as const;
        return context.persist(event).thenReply({ count: count + 1 });
      },
    },
  },
  queries: { get: { reply: Notes, handle: (state) => state } },
});

const endpoint = defineEndpoint({
  name: 'NotesEndpoint',
  prefix: '/notes',
  access: 'internet',
  routes: {
    write: post('/{id}', { body: Text, reply: Notes }, ({ parameters: { id }, body }, { call }) =>
      call(notes, id).write(body),
    ),
  },
});

const reader = defineConsumer({
  id: 'reader',
  start: 'beginning',
  on: [
    {
      entity: notes,
      handle({ text }, { done }) {
        if (text === 'ends the consumer') end();
        return done();
      },
    },
  ],
});

const shown = defineView({
  id: 'shown',
  version: '1',
  row: Notes,
  from: [
    {
      entity: notes,
      fold(row, { text }, { put }) {
        if (text === 'ends the view') end();
        return put({ count: (row?.count ?? 0) + 1 });
      },
    },
  ],
});

const components = {
  entities: [notes],
  endpoints: [endpoint],
  consumers: [reader],
  views: [shown],
};
const { address } = await serveProcess(components);
console.log(`listening at ${address}`);
