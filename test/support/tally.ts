// A tally: an entity that adds amounts, and a view of the totals, for processes that tools fold with.
import { Type } from 'typebox';
import type { Components } from '../../components/components.ts';
import { defineEntity } from '../../components/entity-definition.ts';
import { defineView } from '../../components/view-definition.ts';

const State = Type.Object({ total: Type.Integer() });
const Added = Type.Object({ type: Type.Literal('added'), amount: Type.Integer() });
export type State = Type.Static<typeof State>;
export type Added = Type.Static<typeof Added>;

export interface TallyCode {
  /** How an event is folded; it adds the amount otherwise. */
  readonly apply?: (state: State, event: Added) => State;
  readonly version?: string;
}

/** Components of the tally, with other code where it is given. */
export function tallyComponents({ apply, version = '1' }: TallyCode = {}): Components {
  const tally = defineEntity({
    component: 'tally',
    state: { manifest: 'tally', schema: State },
    event: { manifest: 'tally-event', schema: Added },
    empty: () => ({ total: 0 }),
    apply: apply ?? ((state, { amount }) => ({ total: state.total + amount })),
    commands: {
      add: {
        input: Type.Object({ amount: Type.Integer() }),
        reply: State,
        handle(state, { amount }, context) {
          if (amount <= 0) return context.refuse('amount: must be positive');
          const event = { type: 'added', amount } as const;
          return context.persist(event).thenReply({ total: state.total + amount });
        },
      },
    },
  });
  const totals = defineView({
    id: 'totals',
    version: '1',
    row: State,
    from: [
      {
        entity: tally,
        fold: (row, { amount }, { put }) => put({ total: (row?.total ?? 0) + amount }),
      },
    ],
  });
  return { entities: [tally], views: [totals], version };
}
