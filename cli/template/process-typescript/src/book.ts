// A book of a library: who has it, and how often it was lent.
import { defineEntity } from '@svc/process';
import { Type } from 'typebox';

/** The state of a book. The runtime computes it from the events. */
export const Loan = Type.Object({ reader: Type.String(), count: Type.Integer() });

export const Lend = Type.Object({ reader: Type.String({ minLength: 1 }) });

/** Everything that can happen to a book. These events are stored for good. */
const BookEvent = Type.Union([
  Type.Object({ type: Type.Literal('lent'), reader: Type.String() }),
  Type.Object({ type: Type.Literal('returned') }),
]);

export const book = defineEntity({
  component: 'book',
  state: { manifest: 'loan', schema: Loan },
  event: { manifest: 'book-event', schema: BookEvent },

  empty: () => ({ reader: '', count: 0 }),

  /** Returns the next state, a new object. It decides nothing: the event has already happened. */
  apply(state, event) {
    switch (event.type) {
      case 'lent':
        return { reader: event.reader, count: state.count + 1 };
      case 'returned':
        return { ...state, reader: '' };
    }
  },

  /** A command decides: it refuses, or returns the events that happen. It does not change the state. */
  commands: {
    lend: {
      input: Lend,
      reply: Loan,
      handle(state, { reader }, context) {
        if (state.reader !== '') return context.refuse(`${state.reader} has it`, 'CONFLICT');
        return context.persist({ type: 'lent', reader }).thenReplyState();
      },
    },
    'give-back': {
      handle(state, context) {
        if (state.reader === '') return context.reply();
        return context.persist({ type: 'returned' }).thenReply();
      },
    },
  },

  queries: {
    get: { reply: Loan, handle: (state) => state },
  },
});
