// The import `routing.request`, by which handlers call other services.
import type { Awaitable } from '@svc/model/call';
import type { ServiceResponse } from '@svc/model/service-call';
import { liftPairs, lowerPairs } from './canonical-values.ts';
import type { GuestMemory } from './guest-memory.ts';
import {
  CALL_ERROR_SIZE,
  type ImportTarget,
  entered,
  payForMoving,
  settled,
  storeCallError,
} from './host-call.ts';

/** Size of `result<response, call-error>`: tag 0, response or error 4. Offsets in the response: status 0, headers 4, body 12. */
const RESULT_SIZE = 4 + CALL_ERROR_SIZE;

export function requestService(
  target: ImportTarget,
  service: number,
  serviceLength: number,
  method: number,
  methodLength: number,
  path: number,
  pathLength: number,
  headers: number,
  headersLength: number,
  body: number,
  bodyLength: number,
  result: number,
): Awaitable<void> {
  target.state.enterServiceCall();
  const { memory, calls } = entered(target);
  const address = memory.record(result, RESULT_SIZE, 4);
  const request = {
    service: memory.string(service, serviceLength),
    method: memory.string(method, methodLength),
    path: memory.string(path, pathLength),
    headers: liftPairs(memory, headers, headersLength),
    body: memory.byteList(body, bodyLength),
  };
  payForMoving(target);
  return settled(
    target,
    memory,
    () => calls.request(request),
    (present, response) => storeResponse(present, address, response),
    (present, error) => {
      storeCallError(present, address + 4, error);
      present.storeU8(address, 1);
    },
  );
}

function storeResponse(
  memory: GuestMemory,
  address: number,
  { status, headers, body }: ServiceResponse,
): void {
  const pairs = lowerPairs(memory, headers);
  const bytes = memory.lowerBytes(body);
  memory.storeU8(address, 0);
  memory.storeU16(address + 4, status);
  memory.storeU32(address + 8, pairs);
  memory.storeU32(address + 12, headers.length);
  memory.storeU32(address + 16, bytes);
  memory.storeU32(address + 20, body.length);
}
