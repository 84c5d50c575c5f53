// Actor: who decided something, as of that decision. It is stored in the event, because names, addresses and roles change.
import { Type } from 'typebox';
import type { ValueOf } from '@svc/host';

export const Actor = Type.Object({
  /** The `sub` claim of the caller's token. */
  subject: Type.String(),
  /** The caller's name, else the address, else the subject. */
  display: Type.String(),
  /** True if the role platform-admin is what allowed the action (contract, document 1, "History entry"). */
  administrative: Type.Boolean(),
});
export type Actor = ValueOf<typeof Actor>;

/** Input of a command as far as it has actors and persons. */
interface ActorsInput {
  readonly by?: Actor;
  readonly owner?: { readonly subject: string };
}

/**
 * Returns the input of a command without what tokens call its actor: a request may be repeated with a token that has another name
 * (EntitySpecification.comparedInput).
 */
export function withoutDisplay(input: unknown): unknown {
  const { by, owner, ...rest } = input as ActorsInput;
  if (by === undefined) return input;
  const { subject, administrative } = by;
  return {
    ...rest,
    by: { subject, administrative },
    owner: owner?.subject === subject ? subject : owner,
  };
}
