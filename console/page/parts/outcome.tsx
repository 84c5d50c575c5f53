// Outcome: the outcome of an invocation as an icon, a word and a colour, never the colour alone.
import type { Outcome as OutcomeWord } from '@svc/contract';

export const OUTCOMES: readonly OutcomeWord[] = ['Ok', 'Refused', 'Failed', 'TimedOut'];

const SIGNS: Readonly<Record<OutcomeWord, readonly [string, string]>> = {
  Ok: ['●', 'Ok'],
  Refused: ['◆', 'Refused'],
  Failed: ['✕', 'Failed'],
  TimedOut: ['◷', 'Timed out'],
};

export function Outcome({ outcome }: { readonly outcome: OutcomeWord }) {
  const [sign, word] = SIGNS[outcome];
  return (
    <span class={`outcome is-${outcome}`}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {word}
    </span>
  );
}

export function outcomeSign(outcome: OutcomeWord): string {
  return SIGNS[outcome][0];
}

/** Returns the outcome in whose colour an HTTP status is displayed. */
export function statusOutcome(status: number): OutcomeWord {
  if (status === 504) return 'TimedOut';
  if (status >= 500) return 'Failed';
  return status >= 400 ? 'Refused' : 'Ok';
}
