// The flags over HTTP.
import { defineEndpoint, del, get, put } from '@svc/host';
import { Type } from 'typebox';
import { Change, Flag, FlagEvent, flag } from './flag.ts';

const Step = Type.Object({
  seq: Type.Integer(),
  event: FlagEvent,
});

export const flagEndpoint = defineEndpoint({
  prefix: '/flags',
  access: 'internet',
  routes: {
    get: get('/{name}', { reply: Flag }, ({ parameters }, { call }) =>
      call(flag, parameters.name).get(),
    ),

    change: put('/{name}', { body: Change, reply: Flag }, ({ parameters, body }, { call }) =>
      call(flag, parameters.name).change(body),
    ),

    retire: del('/{name}', {}, ({ parameters }, { call }) => call(flag, parameters.name).retire()),

    history: get(
      '/{name}/history',
      {
        query: Type.Object({ after: Type.Integer({ minimum: 0, default: 0 }) }),
        reply: Type.Array(Step),
      },
      async ({ parameters, query }, { call }) => {
        const events = await call(flag, parameters.name).events(query.after);
        return events.map(({ seq, event }) => ({ seq, event }));
      },
    ),
  },
});
