// ProgramCalls are the calls that a program makes of its own entities. Invariant: a program sets no key of an event
// (model/event-key.ts), whose format alone the engine accepts beside the keys that anybody may set.
import { idempotencyKeyProblem } from '../engine/entity/idempotency.ts';
import type { EntityEngine } from '../engine/entity-engine.ts';
import { refusal } from '@svc/model/call';

type Calls = Pick<EntityEngine, 'call' | 'readEvents'>;

export function programCalls(engine: Calls): Calls {
  return {
    call(...call) {
      const [, , , , key] = call;
      const problem = key === undefined ? undefined : idempotencyKeyProblem(key);
      return problem === undefined
        ? engine.call(...call)
        : refusal('BAD_REQUEST', `the idempotency key ${problem} (SVC_IDEMPOTENCY_KEY_INVALID)`);
    },
    readEvents: (...range) => engine.readEvents(...range),
  };
}
