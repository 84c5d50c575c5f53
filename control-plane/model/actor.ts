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
