// CounterModel is the model of an entity that adds numbers up, and replies to each with the total. The numbers are positive.
import type { Model } from './model.ts';

export type CounterInput =
  | { readonly kind: 'add'; readonly amount: number }
  | { readonly kind: 'get' };

export const COUNTER: Model<number, CounterInput, number> = {
  initial: 0,
  isQuery: ({ kind }) => kind === 'get',
  after: (state, input) => (input.kind === 'add' ? state + input.amount : state),
  answer: (state, input) => COUNTER.after(state, input),
  needs: (input, output) => (input.kind === 'add' ? output - input.amount : output),
  leaves: () => undefined,
  mayFollow: (state, next) => next > state,
};
