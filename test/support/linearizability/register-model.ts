// RegisterModel is the model of an entity that holds the number that was set last. A register that was never set, or was deleted, holds 0.
import type { Model } from './model.ts';

export type RegisterInput =
  | { readonly kind: 'set'; readonly value: number }
  | { readonly kind: 'delete' }
  | { readonly kind: 'get' };

export const REGISTER: Model<number, RegisterInput, number> = {
  initial: 0,
  isQuery: ({ kind }) => kind === 'get',
  after: (state, input) => REGISTER.leaves(input) ?? state,
  answer: (state, input) => REGISTER.after(state, input),
  needs: ({ kind }, output) => (kind === 'get' ? output : undefined),
  leaves(input) {
    if (input.kind === 'get') return undefined;
    return input.kind === 'set' ? input.value : 0;
  },
  mayFollow: (_state, _next, isLeft) => isLeft,
};
