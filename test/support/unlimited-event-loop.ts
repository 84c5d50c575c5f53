// A turn of the event loop that is never used up, so that what a test does in one does not depend on how
// fast the machine is.
import { EventLoopBudget } from '../../host/http/requests/event-loop-budget.ts';

export function unlimitedEventLoop(): EventLoopBudget {
  return new EventLoopBudget({
    nowMs: () => 0,
    nextTurn: setImmediate,
    afterPromises: setImmediate,
  });
}
