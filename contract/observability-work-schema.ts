// The schemas of the observability endpoint's responses about timers, views and consumers, as a part of observability-schema.ts.
import { Type } from 'typebox';
import {
  closed,
  Count,
  Amount,
  Text,
  Time,
  OrNull,
  Word,
  DescribedType,
} from './observability-values.ts';

export const workShapes = {
  EntityName: Type.Object({ component: Text, id: Text }, closed),
  ObservedTimer: Type.Object(
    {
      /** Identifies this setting of the timer. */
      number: Count,
      /** Null: a schedule of the service. */
      owner: OrNull(Type.Ref('EntityName')),
      name: Text,
      target: Type.Ref('EntityName'),
      command: Text,
      /** JSON text. */
      input: Text,
      /** Null: it is due once. 'every 60000 ms', '0 9 * * * Europe/Berlin'. */
      schedule: OrNull(Text),
      state: Type.Union([Word('pending'), Word('dead')]),
      due: OrNull(Time),
      /** When it is fired; null: it is dead. */
      next: OrNull(Time),
      attempts: Count,
      /** Why the last firing failed. */
      fault: OrNull(Text),
    },
    closed,
  ),
  /** GET /observability/timers */
  TimerList: Type.Object(
    {
      /** In the order in which they were set. */
      timers: Type.Array(Type.Ref('ObservedTimer')),
      /** Damaged timers on this page, which are left out. */
      damaged: Count,
      /** The value of `after` for the next page; null: there is none. */
      next: OrNull(Count),
    },
    closed,
  ),
  ObservedView: Type.Object(
    {
      view: Text,
      definition: Text,
      state: Type.Union([Word('missing'), Word('building'), Word('live'), Word('stopped')]),
      /** Records of the journal that are not folded into the rows. */
      lagRecords: Count,
      /** Seconds since the oldest event of the view that is not folded was stored. */
      lagSeconds: Amount,
      /** Share of the records that are folded, from 0 to 1. */
      progress: Amount,
      /** Why it does not follow. `event`: where it has stopped. */
      problem: OrNull(
        Type.Object(
          {
            code: OrNull(Text),
            reason: Text,
            event: OrNull(Type.Object({ component: Text, id: Text, seq: Count }, closed)),
          },
          closed,
        ),
      ),
      /** Events that are left out of the rows. */
      skipped: Type.Array(
        Type.Object({ component: Text, id: Text, seq: Count, reason: Text, time: Time }, closed),
      ),
      sources: Type.Array(Text),
      queries: Type.Array(
        Type.Object(
          {
            name: Text,
            where: Text,
            /** Absent: the query takes none. */
            parameters: Type.Optional(DescribedType),
          },
          closed,
        ),
      ),
    },
    closed,
  ),
  /** GET /observability/views */
  ViewList: Type.Object({ views: Type.Array(Type.Ref('ObservedView')) }, closed),
  /** GET /observability/views/{view}/{query} */
  ViewRows: Type.Object(
    {
      /** Each row as JSON text. */
      rows: Type.Array(Text),
      /** The value of `cursor` for the next page; null: there is none. */
      next: OrNull(Text),
    },
    closed,
  ),
  ObservedConsumer: Type.Object(
    {
      consumer: Text,
      start: Type.Union([Word('beginning'), Word('now')]),
      /** Records of the journal after its position. */
      lagRecords: Count,
      /** Entities with an event that is tried again, and with one that is parked. */
      retrying: Count,
      parked: Count,
    },
    closed,
  ),
  /** GET /observability/consumers: the consumers that have handled events. */
  ConsumerList: Type.Object({ consumers: Type.Array(Type.Ref('ObservedConsumer')) }, closed),
  ObservedLane: Type.Object(
    {
      entity: Type.Ref('EntityName'),
      /** Number of the first event that is not settled, among the records of the entity. */
      event: Count,
      state: Type.Union([Word('retrying'), Word('parked')]),
      /** When it is tried again; null: it is parked. */
      next: OrNull(Time),
      attempts: Count,
      reason: OrNull(Text),
    },
    closed,
  ),
  /** GET /observability/consumers/{consumer} */
  LaneList: Type.Object(
    {
      consumer: Text,
      lanes: Type.Array(Type.Ref('ObservedLane')),
      /** The value of `after` for the next page; null: there is none. */
      next: OrNull(Count),
    },
    closed,
  ),
};
