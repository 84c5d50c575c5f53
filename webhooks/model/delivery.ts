// Delivery: the delivery of one event to one subscription, and its attempts. Its id is `deliveryId`.
//
// An attempt is made outside of the entity: `begin` is on disk before anything is sent, then comes the request, then `end`.
//
// Invariants
// - One attempt is under way at a time, and each has a number of its own: `begin` is refused before its time, for another number, and
//   while one is under way. So every request that a receiver may have seen is in the log, and no two senders make the same attempt.
// - An attempt whose end nobody has stored for fifteen seconds is `interrupted`, and counts.
// - A run has eleven attempts at most, the next one at least ten seconds after the end of the one before.
import { Type } from 'typebox';
import { defineEntity, type ReadonlyDeep } from '@svc/host';
import {
  ATTEMPTS_MAX,
  INTERRUPTED_MS,
  isEarly,
  isExpired,
  PAUSE_MS,
  RUN_ENDS_MS,
  RUNS_MAX,
} from './attempt-schedule.ts';
import {
  About,
  appliedTo,
  Delivery,
  DeliveryEvent,
  EndedAttempt,
  nextAttemptOf,
  nullable,
  Outcome,
} from './delivery-state.ts';

const NO_SUCH_DELIVERY = 'there is no such delivery';
const PENDING = 'the delivery is pending: it can be sent again once it is delivered or exhausted';
const RUNS_USED = `the delivery was sent in ${RUNS_MAX} runs, which is the most`;

const Next = nullable(
  Type.Object({ run: Type.Integer(), number: Type.Integer(), dueAtMs: Type.Integer() }),
);

/** A delivery as the log shows it. */
export const Entry = Type.Object({
  about: About,
  url: Type.String(),
  outcome: Outcome,
  error: nullable(Type.String()),
  nextAttemptAtMs: nullable(Type.Integer()),
  attempts: Type.Array(EndedAttempt),
});

export const delivery = defineEntity({
  component: 'delivery',
  state: { manifest: 'delivery', schema: Delivery },
  event: { manifest: 'delivery-event', schema: DeliveryEvent },

  empty: () => ({
    url: '',
    outcome: 'pending' as const,
    error: null,
    run: 1,
    number: 0,
    nextAttemptAtMs: null,
    attempts: [],
  }),

  apply: appliedTo,

  // A consumer that is called again for its event opens the same delivery, though the URL may be another one by now.
  comparedInput: () => null,

  commands: {
    open: {
      input: Type.Object({ about: About, url: Type.String(), isBacklogFull: Type.Boolean() }),
      reply: Next,
      handle(state, { about, url, isBacklogFull }, { nowMs, persist, reply }) {
        if (state.about !== undefined) return reply(nextAttemptOf(state, INTERRUPTED_MS));
        return persist({
          type: 'opened',
          about,
          url,
          outcome: isBacklogFull ? 'exhausted' : 'pending',
          error: isBacklogFull ? 'backlog_full' : null,
          nextAttemptAtMs: isBacklogFull ? null : nowMs,
        }).thenReplyFrom((opened) => nextAttemptOf(opened, INTERRUPTED_MS));
      },
    },
    begin: {
      input: Type.Object({ run: Type.Integer(), number: Type.Integer(), url: Type.String() }),
      /** `next`: what may be made instead, if it has not begun. */
      reply: Type.Object({ hasBegun: Type.Boolean(), next: Next }),
      handle(state, { run, number, url }, { nowMs, persist, persistAll, reply, refuse }) {
        const { about } = state;
        if (about === undefined) return refuse(NO_SUCH_DELIVERY, 'NOT_FOUND');
        const next = nextAttemptOf(state, INTERRUPTED_MS);
        if (next === null) return reply({ hasBegun: false, next });
        const { begunAtMs } = state;
        // The clock was set back since: the time of the attempt under way counts from now on.
        if (begunAtMs !== undefined && nowMs < begunAtMs)
          return persist({ ...underWay(state), atMs: nowMs }).thenReplyFrom((begun) => ({
            hasBegun: false,
            next: nextAttemptOf(begun, INTERRUPTED_MS),
          }));
        const pauseMs = begunAtMs === undefined ? PAUSE_MS : INTERRUPTED_MS;
        if (next.run !== run || next.number !== number || isEarly(next, nowMs, pauseMs))
          return reply({ hasBegun: false, next });
        const interrupted = interruptionOf(state, nowMs);
        if (interrupted?.outcome === 'exhausted')
          return persist(interrupted).thenReply({ hasBegun: false, next: null });
        if (nowMs - about.occurredAtMs >= RUN_ENDS_MS) {
          const { subscription } = about;
          const closed = { type: 'closed' as const, subscription, error: 'expired' };
          return persistAll(interrupted === undefined ? [closed] : [interrupted, closed]).thenReply(
            { hasBegun: false, next: null },
          );
        }
        const begun = { type: 'begun' as const, run, number, url, atMs: nowMs };
        return persistAll(interrupted === undefined ? [begun] : [interrupted, begun]).thenReply({
          hasBegun: true,
          next: null,
        });
      },
    },
    end: {
      input: Type.Object({
        run: Type.Integer(),
        number: Type.Integer(),
        isDelivered: Type.Boolean(),
        status: nullable(Type.Integer()),
        error: nullable(Type.String()),
        durationMs: Type.Integer(),
      }),
      reply: Next,
      handle(state, { run, number, isDelivered, ...result }, { nowMs, persist, reply }) {
        const { begunAtMs } = state;
        // It was interrupted meanwhile.
        if (begunAtMs === undefined || state.run !== run || state.number !== number)
          return reply(nextAttemptOf(state, INTERRUPTED_MS));
        const attempt = { run, number, atMs: begunAtMs, ...result };
        return persist(endOf(state, attempt, isDelivered, nowMs)).thenReplyFrom((ended) =>
          nextAttemptOf(ended, INTERRUPTED_MS),
        );
      },
    },
    /** Ends a delivery whose subscription is gone. An attempt under way counts as interrupted. */
    close: {
      input: Type.Object({ error: Type.Literal('subscription_deleted') }),
      handle(state, { error }, { nowMs, persistAll, reply, refuse }) {
        const { about, outcome } = state;
        if (about === undefined) return refuse(NO_SUCH_DELIVERY, 'NOT_FOUND');
        if (outcome !== 'pending') return reply();
        const interrupted = interruptionOf(state, nowMs);
        if (interrupted?.outcome === 'exhausted') return persistAll([interrupted]).thenReply();
        const closed = { type: 'closed' as const, subscription: about.subscription, error };
        return persistAll(interrupted === undefined ? [closed] : [interrupted, closed]).thenReply();
      },
    },
    /** Begins another run. */
    retry: {
      /** `request`: its name, which no other request has. One that is repeated begins no further run. */
      input: Type.Object({ request: Type.Optional(Type.String()) }),
      /** `next`: the first attempt of the run, if it has begun. */
      reply: Type.Object({ next: Next, entry: Entry }),
      handle(state, { request }, { nowMs, persist, reply, refuse }) {
        const { about, url, outcome, run } = state;
        if (about === undefined || isExpired({ ...about, outcome }, nowMs))
          return refuse(NO_SUCH_DELIVERY, 'NOT_FOUND');
        if (request !== undefined && request === state.retryRequest)
          return reply({ next: null, entry: entryOf(state, about) });
        if (outcome === 'pending') return refuse(PENDING, 'CONFLICT');
        if (run >= RUNS_MAX) return refuse(RUNS_USED, 'CONFLICT');
        const { tenant, subscription } = about;
        return persist({
          type: 'retried',
          tenant,
          subscription,
          url,
          run: run + 1,
          nextAttemptAtMs: nowMs,
          ...(request !== undefined && { request }),
        }).thenReplyFrom((retried) => ({
          next: nextAttemptOf(retried, INTERRUPTED_MS),
          entry: entryOf(retried, about),
        }));
      },
    },
  },

  queries: {
    /** Null: there is no such delivery. One that has expired is there until its segment is removed. */
    about: {
      reply: nullable(About),
      handle: ({ about }) => about ?? null,
    },
    entry: {
      reply: Entry,
      handle(state, { nowMs, refuse }) {
        const { about, outcome } = state;
        if (about === undefined || isExpired({ ...about, outcome }, nowMs))
          return refuse(NO_SUCH_DELIVERY, 'NOT_FOUND');
        return entryOf(state, about);
      },
    },
  },
});

function entryOf(
  { url, outcome, error, nextAttemptAtMs, attempts }: ReadonlyDeep<Delivery>,
  about: ReadonlyDeep<About>,
) {
  return { about, url, outcome, error, nextAttemptAtMs, attempts };
}

/** Returns the event of the attempt under way. */
function underWay({ run, number, url }: ReadonlyDeep<Delivery>) {
  return { type: 'begun' as const, run, number, url };
}

type Ended = Extract<DeliveryEvent, { readonly type: 'ended' }>;

/** Returns the event that ends an attempt. */
function endOf(
  { about, url }: ReadonlyDeep<Delivery>,
  attempt: EndedAttempt,
  isDelivered: boolean,
  nowMs: number,
): Ended {
  const outcome = isDelivered
    ? 'delivered'
    : attempt.number < ATTEMPTS_MAX
      ? 'pending'
      : 'exhausted';
  return {
    type: 'ended',
    subscription: about!.subscription,
    url,
    attempt,
    outcome,
    nextAttemptAtMs: outcome === 'pending' ? nowMs + PAUSE_MS : null,
    atMs: nowMs,
  };
}

/** Returns the event that ends the attempt under way without its result; undefined: none is under way. */
function interruptionOf(state: ReadonlyDeep<Delivery>, nowMs: number): Ended | undefined {
  const { begunAtMs, run, number } = state;
  if (begunAtMs === undefined) return undefined;
  const attempt = {
    run,
    number,
    atMs: begunAtMs,
    status: null,
    error: 'interrupted',
    durationMs: null,
  };
  return endOf(state, attempt, false, nowMs);
}
