// A program that embeds a service with all that looks at it, and stops nothing: it ends when its own work is done. Its
// arguments are the folder in which the service registers, and a receiver of OTLP.
import { Type } from 'typebox';
import { createService, defineEntity } from '../../host/embed.ts';

const [runningFolder = '', endpoint = ''] = process.argv.slice(2);
const Count = Type.Object({ value: Type.Integer() });
const counter = defineEntity({
  component: 'counter',
  state: { manifest: 'count', schema: Count },
  event: {
    manifest: 'counter-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('added') })]),
  },
  empty: () => ({ value: 0 }),
  apply: ({ value }) => ({ value: value + 1 }),
  commands: {
    add: {
      reply: Count,
      handle: (_state, context) => context.persist({ type: 'added' }).thenReplyState(),
    },
  },
  queries: {},
});

const service = await createService({
  name: 'idle',
  entities: [counter],
  journal: 'memory',
  log: 'none',
  observability: { local: true, runningFolder, otlp: { endpoint } },
});
const added = await service.call(counter, 'a').add();
console.log(JSON.stringify(added.isOk && added.value));
