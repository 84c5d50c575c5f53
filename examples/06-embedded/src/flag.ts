// A feature flag: for how many of a hundred users a feature is on, and why.
import { defineEntity } from '@svc/host';
import { Type } from 'typebox';

const Percentage = Type.Integer({ minimum: 0, maximum: 100 });

export const Flag = Type.Object({ percentage: Percentage, reason: Type.String() });
export const Change = Type.Object({
  percentage: Percentage,
  reason: Type.String({ minLength: 1, maxLength: 200 }),
});
export const FlagEvent = Type.Union([
  Type.Object({ type: Type.Literal('changed'), percentage: Percentage, reason: Type.String() }),
  Type.Object({ type: Type.Literal('retired') }),
]);

export const flag = defineEntity({
  component: 'flag',
  state: { manifest: 'flag', schema: Flag },
  event: { manifest: 'flag-event', schema: FlagEvent },

  empty: () => ({ percentage: 0, reason: 'nobody has turned it on' }),

  apply(state, event) {
    switch (event.type) {
      case 'changed':
        return { percentage: event.percentage, reason: event.reason };
      case 'retired':
        return state;
    }
  },

  commands: {
    change: {
      input: Change,
      reply: Flag,
      handle(state, { percentage, reason }, context) {
        if (percentage === state.percentage) return context.reply(state);
        if (percentage > 50 && state.percentage === 0)
          return context.refuse('a new feature begins with at most 50 percent', 'CONFLICT');
        return context.persist({ type: 'changed', percentage, reason }).thenReplyState();
      },
    },
    retire: {
      handle: (_state, context) => context.persist({ type: 'retired' }).thenDelete().thenReply(),
    },
  },

  queries: {
    get: { reply: Flag, handle: (state) => state },
  },
});
