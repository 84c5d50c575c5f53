// ConsumerStalled: the failures of a consumer that delivers or reads no further events, because too many wait.
import { SvcError } from '@svc/kit/svc-error';

/** Returns the failure of a consumer with `parked` parked lanes, more than `max`. */
export function stalled(consumer: string, parked: number, max: number): SvcError {
  return new SvcError(
    'SVC_CONSUMER_STALLED',
    `Consumer '${consumer}' has stopped: the events of ${parked} entities are parked, more than ${max}. Correct what makes it ` +
      'fail, then retry or skip parked events; it goes on by itself.',
  );
}

/** Returns the failure of a consumer with `waiting` lanes that wait or are parked, more than `max`. */
export function full(consumer: string, waiting: number, max: number): SvcError {
  return new SvcError(
    'SVC_CONSUMER_STALLED',
    `Consumer '${consumer}' reads no further events: those of ${waiting} entities wait for another attempt or are parked, more ` +
      `than ${max}. Correct what makes the attempts fail; it goes on by itself.`,
  );
}
