// DeliveryOutcome: the outcome of a delivery as an icon, a word and a colour, never the colour alone.
import type { DeliveryOutcome as OutcomeWord } from '@svc/client';

const MARKS: Readonly<Record<OutcomeWord, readonly [sign: string, tone: string]>> = {
  pending: ['◷', 'is-pending'],
  delivered: ['●', 'is-Ok'],
  exhausted: ['✕', 'is-Failed'],
};
export const DELIVERY_OUTCOMES = Object.keys(MARKS) as readonly OutcomeWord[];

export function DeliveryOutcome({ outcome }: { readonly outcome: OutcomeWord }) {
  const [sign, tone] = MARKS[outcome];
  return (
    <span class={`outcome ${tone}`}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {outcome}
    </span>
  );
}
