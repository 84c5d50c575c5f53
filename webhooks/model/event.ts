// Event: an event as it is stored with what has caused it. The journal is the outbox: whoever stores the cause stores the event, and
// nobody can store one of them alone.
import { Type } from 'typebox';
import type { ValueOf } from '@svc/host';

export const StoredEvent = Type.Object({
  id: Type.String(),
  type: Type.String(),
  occurredAtMs: Type.Integer(),
  tenant: Type.String(),
  /** The body that receivers get. */
  body: Type.String(),
});
export type StoredEvent = ValueOf<typeof StoredEvent>;
