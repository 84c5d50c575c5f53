// A turn of the event loop that is never used up, so that what a test does in one does not depend on how
// fast the machine is.
import { LoopTurn } from '../../host/http/requests/loop-turn.ts';

export function endlessTurn(): LoopTurn {
  return new LoopTurn({ nowMs: () => 0, nextTurn: setImmediate, afterPromises: setImmediate });
}
