// The import `routing.call`: in an instance that can suspend, it suspends the module's stack while the host waits; in one
// that cannot, it returns at once or throws MustWait.
import type { HostCalls } from '@svc/model/guest';
import type { Awaitable, Refusal, Reply } from '@svc/model/call';
import { liftOption, liftPairs, storeRefusal } from './canonical-values.ts';
import type { GuestMemory } from './guest-memory.ts';
import {
  CALL_ERROR,
  CALL_ERROR_SIZE,
  type ImportTarget,
  MUST_WAIT,
  MustWait,
  entered,
  hasStack,
  payForMoving,
  storeCallError,
  waited,
} from './host-call.ts';

/** Size of `result<string, call-error>`: tag 0, string or error 4. */
const CALL_RESULT_SIZE = 4 + CALL_ERROR_SIZE;

/** Function through which a call reaches the host. */
type Caller = (
  calls: HostCalls,
  ...call: Parameters<HostCalls['call']>
) => Awaitable<Reply | Refusal>;

export const callAndWait: Caller = (calls, ...call) => calls.call(...call);

export const callAtOnce: Caller = (calls, target, name, input, metadata, key) => {
  if (!hasStack()) throw MUST_WAIT;
  const answer = calls.speculate?.(target, name, input, metadata, key);
  if (answer === undefined) throw MUST_WAIT;
  return answer;
};

export function callEntity(
  target: ImportTarget,
  caller: Caller,
  component: number,
  componentLength: number,
  id: number,
  idLength: number,
  name: number,
  nameLength: number,
  input: number,
  inputLength: number,
  metadata: number,
  metadataLength: number,
  hasKey: number,
  key: number,
  keyLength: number,
  result: number,
): Awaitable<void> {
  target.state.enterComponentCall();
  const { memory, calls } = entered(target);
  const address = memory.record(result, CALL_RESULT_SIZE, 4);
  const entity = {
    component: memory.string(component, componentLength),
    id: memory.string(id, idLength),
  };
  const isKeyed = liftOption(hasKey);
  const nameText = memory.string(name, nameLength);
  const inputText = memory.string(input, inputLength);
  const pairs = liftPairs(memory, metadata, metadataLength);
  const keyText = isKeyed ? memory.string(key, keyLength) : undefined;
  payForMoving(target);
  let outcome: Awaitable<Reply | Refusal>;
  try {
    outcome = caller(calls, entity, nameText, inputText, pairs, keyText);
  } catch (error) {
    if (error instanceof MustWait) throw error;
    storeFailure(memory, address, error);
    return;
  }
  if (!(outcome instanceof Promise)) {
    storeOutcome(memory, address, outcome);
    payForMoving(target);
    return;
  }
  return outcome.then(
    (settled) => {
      storeOutcome(waited(target), address, settled);
      payForMoving(target);
    },
    (error: unknown) => storeFailure(waited(target), address, error),
  );
}

function storeOutcome(memory: GuestMemory, address: number, outcome: Reply | Refusal): void {
  if (outcome.kind === 'reply') {
    memory.storeU8(address, 0);
    memory.storeString(address + 4, outcome.json);
    return;
  }
  memory.storeU8(address, 1);
  memory.storeU8(address + 4, CALL_ERROR.refused);
  storeRefusal(memory, address + 8, outcome);
}

function storeFailure(memory: GuestMemory, address: number, error: unknown): void {
  storeCallError(memory, address + 4, error);
  memory.storeU8(address, 1);
}
