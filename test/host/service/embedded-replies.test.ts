// The reply of a query in an embedded service: whoever gets it may change it.
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import { createService, defineEntity } from '@svc/host';

const State = Type.Object({ names: Type.Array(Type.String()) });

test('a caller that changes the reply of a query changes neither the state nor the reply of another caller', async () => {
  const list = defineEntity({
    component: 'list',
    state: { manifest: 'list', schema: State },
    event: {
      manifest: 'list-event',
      schema: Type.Union([Type.Object({ type: Type.Literal('added'), name: Type.String() })]),
    },
    empty: () => ({ names: [] }),
    apply(state, { name }) {
      state.names.push(name);
      return state;
    },
    commands: {
      add: {
        input: Type.String(),
        handle: (_, name, { persist }) => persist({ type: 'added', name }).thenReply(),
      },
    },
    queries: { get: { reply: State, handle: (state) => state } },
  });
  const service = await createService({
    name: 'lists',
    entities: [list],
    journal: 'memory',
    http: false,
    log: 'none',
  });
  onTestFinished(() => service.stop());
  await service.call(list, 'a').add('one');
  const ask = async () => {
    const result = await service.call(list, 'a').get();
    return result.isOk ? result.value : undefined;
  };
  const [first, second] = await Promise.all([ask(), ask()]);
  first!.names.push('two');
  expect(second).toEqual({ names: ['one'] });
  expect(await ask()).toEqual({ names: ['one'] });
});
