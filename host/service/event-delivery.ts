// EventDelivery delivers an event to a consumer of this thread's guest, and says how that ended as the dispatcher needs it.
import type { DeliveredEvent, DeliveryOutcome } from '../consumers/delivery.ts';
import { FailedCall, type HandleEvent } from '../http/requests/event-handler.ts';
import type { Refusal } from '@svc/model/call';
import { faultReason } from '@svc/model/fault-reason';
import { GuestFault } from '@svc/model/guest-fault';
import { GuestLost } from '@svc/model/guest-lost';
import { failureCause } from '@svc/model/failure-cause';
import { SvcError } from '@svc/kit/svc-error';
import type { FaultReport } from '@svc/model/fault-report';
import type { ServiceLog } from './service-log.ts';

/** An event on its way to the shard of its entity. */
export interface Delivery {
  readonly consumer: string;
  readonly event: DeliveredEvent;
  /** As in StoredLane. */
  readonly round: number;
}

export interface DeliveryAnswer {
  readonly outcome: DeliveryOutcome;
  /** Why the event could not be delivered, for the log. */
  readonly failure?: string | undefined;
}

export const DELIVERY_AWAY: DeliveryAnswer = { outcome: { kind: 'unavailable' } };

/** Faults that another attempt may not meet again: they depend on what else happens in the thread. */
const PASSING: ReadonlySet<GuestFault['faultCause']> = new Set(['time', 'memory']);

/** The part of the log of a service that a delivery uses. */
export interface DeliveryLog extends Pick<ServiceLog, 'write'> {
  readonly faults: Pick<FaultReport, 'fields'>;
}

/** Never rejects. */
export async function deliverEvent(
  handle: HandleEvent,
  { consumer, event, round }: Delivery,
  log: DeliveryLog,
): Promise<DeliveryAnswer> {
  try {
    const answer = await handle(consumer, event, round);
    return { outcome: answer.kind === 'refusal' ? outcomeOfRefusal(answer) : answer };
  } catch (failure) {
    const cause = failure instanceof FailedCall ? failure.cause : failure;
    const causedBy = failureCause(cause);
    // A handler that takes its process along each time would do so for good.
    const isLost = cause instanceof GuestLost;
    if (causedBy === 'runtime' && !isLost) return unavailable(cause);
    const fields = {
      consumer,
      component: event.entity.component,
      entity: event.entity.id,
      seq: event.seq,
      ...log.faults.fields(cause),
    };
    log.write('warn', 'a consumer failed', fields, cause);
    const isOwnFault = cause instanceof GuestFault && !(failure instanceof FailedCall);
    const isPassing = isOwnFault ? PASSING.has(cause.faultCause) : isLost || causedBy === 'module';
    const reason = cause instanceof SvcError ? withCode(cause) : faultReason(cause);
    return { outcome: { kind: isPassing ? 'interrupted' : 'park', reason } };
  }
}

function outcomeOfRefusal({ code, otherCode = code, message }: Refusal): DeliveryOutcome {
  const reason = `${otherCode}: ${message}`;
  return code === 'TOO_MANY_REQUESTS'
    ? { kind: 'retry', reason, afterMs: undefined }
    : { kind: 'park', reason };
}

function unavailable(failure: unknown): DeliveryAnswer {
  if (!(failure instanceof SvcError)) return { ...DELIVERY_AWAY, failure: String(failure) };
  // A service that is stopping is no failure: the event is delivered after the next start.
  return failure.code === 'SVC_STOPPING'
    ? DELIVERY_AWAY
    : { ...DELIVERY_AWAY, failure: withCode(failure) };
}

function withCode({ message, code }: SvcError): string {
  return `${message} [${code}]`;
}
