// The schemas of the observability endpoint's responses about the history of an entity, as a part of observability-schema.ts.
import { Type } from 'typebox';
import { closed, Count, Text, Time, TraceId, OrNull, Word } from './observability-values.ts';

export const historyShapes = {
  StateChange: Type.Object(
    {
      /** JSON path: '$.items[0].quantity'. */
      path: Text,
      /** JSON text; null: the value did not exist before. */
      before: OrNull(Text),
      /** JSON text; null: the value does not exist any more. */
      after: OrNull(Text),
    },
    closed,
  ),
  Author: Type.Object({ issuer: Text, subject: Text }, closed),
  HistoryStep: Type.Object(
    {
      seq: Count,
      kind: Type.Union([Word('event'), Word('deleted'), Word('damaged')]),
      time: OrNull(Time),
      manifest: OrNull(Text),
      /** Text of the event's member `type`, which names the case of a sum type; null if there is none. */
      type: OrNull(Text),
      /** The stored event, as JSON text. */
      event: OrNull(Text),
      traceId: OrNull(TraceId),
      /** Idempotency key of the command that recorded it. */
      key: OrNull(Text),
      /** The caller that has sent that command, by a verified access token; null: there is none, or it is not known. */
      by: OrNull(Type.Ref('Author')),
      changes: Type.Array(Type.Ref('StateChange')),
      moreChanges: Count,
      /** State after the record, as JSON text; null if it is unknown or was left out. */
      state: OrNull(Text),
      /** True: the state is too large and was left out. */
      stateCut: Type.Boolean(),
      /** Reason why the state is unknown until the incarnation ends; null if it is known. */
      problem: OrNull(Text),
    },
    closed,
  ),
  /** GET /observability/entities/{component}/{id}/history */
  HistoryPage: Type.Object(
    {
      component: Text,
      id: Text,
      /** Oldest first. */
      steps: Type.Array(Type.Ref('HistoryStep')),
      /** Value of `from` for the next page; null: there is none. */
      next: OrNull(Count),
      /** Number of records of the entity in all its incarnations. */
      total: Count,
    },
    closed,
  ),
};
