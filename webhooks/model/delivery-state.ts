// The state and the events of a delivery. Its events have what the log shows, so that its views read nothing else.
import { Type } from 'typebox';
import type { ReadonlyDeep, ValueOf } from '@svc/host';
import type { NextAttempt } from './attempt-schedule.ts';

export function nullable<const Of extends Type.TSchema>(schema: Of) {
  return Type.Union([schema, Type.Null()]);
}

/** Where the body of the event is: an event of an entity of the same segment. */
export const BodySource = Type.Object({
  entity: Type.Enum(['dataset', 'notice']),
  id: Type.String(),
  seq: Type.Integer(),
});
export type BodySource = ValueOf<typeof BodySource>;

/** The parts of a delivery that never change. */
export const About = Type.Object({
  tenant: Type.String(),
  subscription: Type.String(),
  eventId: Type.String(),
  eventType: Type.String(),
  dataset: nullable(Type.String()),
  occurredAtMs: Type.Integer(),
  source: BodySource,
});
export type About = ValueOf<typeof About>;

export const Outcome = Type.Enum(['pending', 'delivered', 'exhausted']);

/** An attempt that has ended. Its error is an AttemptError. */
export const EndedAttempt = Type.Object({
  run: Type.Integer(),
  number: Type.Integer(),
  /** When it began, in milliseconds since 1970. */
  atMs: Type.Integer(),
  status: nullable(Type.Integer()),
  error: nullable(Type.String()),
  /** Null: nobody has seen its end. */
  durationMs: nullable(Type.Integer()),
});
export type EndedAttempt = ValueOf<typeof EndedAttempt>;

export const Delivery = Type.Object({
  /** Absent: there is no such delivery. */
  about: Type.Optional(About),
  /** URL of the last attempt, or of the subscription when the event occurred. */
  url: Type.String(),
  outcome: Outcome,
  /** Why it ended without the receiver: `subscription_deleted`, `expired`, `backlog_full`. */
  error: nullable(Type.String()),
  run: Type.Integer(),
  /** Attempts of the run that have begun. */
  number: Type.Integer(),
  /** When the attempt under way began; absent: none is. */
  begunAtMs: Type.Optional(Type.Integer()),
  nextAttemptAtMs: nullable(Type.Integer()),
  attempts: Type.Array(EndedAttempt),
  /** Name of the request of the last retry, which no other request has. */
  retryRequest: Type.Optional(Type.String()),
});
export type Delivery = ValueOf<typeof Delivery>;

/** Views have no state of other events, so every event says whose it is. */
const subscription = Type.String();

export const DeliveryEvent = Type.Union([
  Type.Object({
    type: Type.Literal('opened'),
    about: About,
    url: Type.String(),
    outcome: Outcome,
    error: nullable(Type.String()),
    nextAttemptAtMs: nullable(Type.Integer()),
  }),
  Type.Object({
    type: Type.Literal('begun'),
    run: Type.Integer(),
    number: Type.Integer(),
    url: Type.String(),
    atMs: Type.Integer(),
  }),
  Type.Object({
    type: Type.Literal('ended'),
    subscription,
    url: Type.String(),
    attempt: EndedAttempt,
    outcome: Outcome,
    nextAttemptAtMs: nullable(Type.Integer()),
    /** When its end was known. */
    atMs: Type.Integer(),
  }),
  Type.Object({ type: Type.Literal('closed'), subscription, error: Type.String() }),
  Type.Object({
    type: Type.Literal('retried'),
    tenant: Type.String(),
    subscription,
    url: Type.String(),
    run: Type.Integer(),
    nextAttemptAtMs: Type.Integer(),
    request: Type.Optional(Type.String()),
  }),
]);
export type DeliveryEvent = ValueOf<typeof DeliveryEvent>;

export function appliedTo(state: Delivery, event: DeliveryEvent): Delivery {
  switch (event.type) {
    case 'opened':
      state.about = event.about;
      state.url = event.url;
      state.outcome = event.outcome;
      state.error = event.error;
      state.nextAttemptAtMs = event.nextAttemptAtMs;
      return state;
    case 'begun':
      state.number = event.number;
      state.url = event.url;
      state.begunAtMs = event.atMs;
      return state;
    case 'ended':
      state.outcome = event.outcome;
      state.nextAttemptAtMs = event.nextAttemptAtMs;
      state.attempts.push(event.attempt);
      delete state.begunAtMs;
      return state;
    case 'closed':
      state.outcome = 'exhausted';
      state.error = event.error;
      state.nextAttemptAtMs = null;
      delete state.begunAtMs;
      return state;
    case 'retried':
      state.outcome = 'pending';
      state.error = null;
      state.run = event.run;
      state.number = 0;
      state.nextAttemptAtMs = event.nextAttemptAtMs;
      if (event.request === undefined) delete state.retryRequest;
      else state.retryRequest = event.request;
      return state;
  }
}

/** Returns the attempt that may be made next; null: none, as the delivery is not pending. `interruptedMs`: pause after one that never ends. */
export function nextAttemptOf(
  { outcome, run, number, begunAtMs, nextAttemptAtMs }: ReadonlyDeep<Delivery>,
  interruptedMs: number,
): NextAttempt | null {
  if (outcome !== 'pending' || nextAttemptAtMs === null) return null;
  const dueAtMs = begunAtMs === undefined ? nextAttemptAtMs : begunAtMs + interruptedMs;
  return { run, number: number + 1, dueAtMs };
}
