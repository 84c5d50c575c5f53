// Dataset: what the platform has reported of a dataset of a tenant, and the events that follow from it. Its id is `datasetKey`.
//
// Invariants
// - Sequence numbers ascend. A report that is repeated gets the answer of the first time, and another one with its number is refused.
// - An event is stored with the change of status that causes it, in one append.
// - A dataset whose entity is new in its segment begins with what the segments before it know (`former`).
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { DATASET_EVENT_TYPES, DATASET_STATUSES } from '@svc/client';
import { defineEntity, type ValueOf } from '@svc/host';
import { bodyOf, dataOf } from './event-body.ts';
import { StoredEvent } from './event.ts';
import { datasetEventId } from './ids.ts';

/** The event that a dataset causes when its status becomes this one (findings, 2.1). */
const EVENT_TYPES: ReadonlyMap<string, string> = new Map(
  DATASET_STATUSES.map((status, at) => [status, DATASET_EVENT_TYPES[at]!]),
);

/** Returns the type of the event that a report causes; undefined: none. `status`: the one before. */
export function eventTypeOf(
  reported: string,
  status: string | null | undefined,
): string | undefined {
  return reported === status ? undefined : EVENT_TYPES.get(reported);
}

/** The last report of a dataset. */
const LastReport = Type.Object({
  seq: Type.Integer(),
  status: Type.String(),
  /** Digest of the report, by which the same one is known. */
  digest: Type.String(),
  /** Null: it has caused no event. */
  eventId: Type.Union([Type.String(), Type.Null()]),
});
export type LastReport = ValueOf<typeof LastReport>;

const Dataset = Type.Object({
  /** Absent: nothing was reported. */
  last: Type.Optional(LastReport),
});

const DatasetEvent = Type.Union([
  /** The last report of the segments before. */
  Type.Object({ type: Type.Literal('carried'), last: LastReport }),
  Type.Object({
    type: Type.Literal('reported'),
    last: LastReport,
    event: Type.Optional(StoredEvent),
  }),
]);

const Reported = Type.Object({
  tenant: Type.String(),
  id: Type.String(),
  name: Type.String(),
  model: Type.String(),
  modelVersion: Type.String(),
  tags: Type.Array(Type.String()),
  status: Type.String(),
  score: Type.Union([Type.String(), Type.Null()]),
  seq: Type.Integer(),
  parentId: Type.Union([Type.String(), Type.Null()]),
  originId: Type.Union([Type.String(), Type.Null()]),
  supersededBy: Type.Union([Type.String(), Type.Null()]),
  runLink: Type.String(),
  outputLink: Type.String(),
  former: Type.Optional(LastReport),
});

export const dataset = defineEntity({
  component: 'dataset',
  state: { manifest: 'dataset', schema: Dataset },
  event: { manifest: 'dataset-event', schema: DatasetEvent },

  empty: () => ({}),

  apply(state, { last }) {
    state.last = last;
    return state;
  },

  commands: {
    report: {
      input: Reported,
      reply: Type.Object({ eventId: Type.Union([Type.String(), Type.Null()]) }),
      handle(
        state,
        { tenant, id, former, ...reported },
        { nowMs, persist, persistAll, reply, refuse },
      ) {
        const last = state.last ?? former;
        const { seq, status } = reported;
        const data = dataOf(id, reported);
        const digest = digestOf(data);
        if (last !== undefined && seq <= last.seq) {
          if (seq === last.seq && digest === last.digest) return reply({ eventId: last.eventId });
          return refuse(refusalOf(seq, last.seq), 'CONFLICT');
        }
        const type = eventTypeOf(status, last?.status);
        const eventId = type === undefined ? null : datasetEventId(tenant, id, seq);
        const change = { type: 'reported' as const, last: { seq, status, digest, eventId } };
        const event =
          type === undefined || eventId === null
            ? undefined
            : eventOf({ id: eventId, type, tenant, occurredAtMs: nowMs, data });
        const stored = event === undefined ? change : { ...change, event };
        const isCarried = state.last === undefined && former !== undefined;
        return (
          isCarried ? persistAll([{ type: 'carried', last: former }, stored]) : persist(stored)
        ).thenReply({ eventId });
      },
    },
  },

  queries: {
    last: {
      reply: Type.Union([LastReport, Type.Null()]),
      handle: ({ last }) => last ?? null,
    },
  },
});

function eventOf(envelope: Parameters<typeof bodyOf>[0]): StoredEvent {
  const { id, type, occurredAtMs, tenant } = envelope;
  return { id, type, occurredAtMs, tenant, body: bodyOf(envelope) };
}

function digestOf(data: object): string {
  return createHash('sha256').update(JSON.stringify(data)).digest('base64url');
}

function refusalOf(seq: number, known: number): string {
  return seq === known
    ? `the dataset was reported with seq ${seq} and other content: a change needs a higher seq`
    : `the dataset was reported with seq ${known} already: ${seq} is older`;
}
