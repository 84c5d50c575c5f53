// The module's export `http.handle`: lowers a request and lifts the response, which the HTTP server checks. Offsets are
// those of the canonical ABI for wit/runtime.wit.
import type { CallContext, Refusal } from '@svc/model/call';
import type { Body, EndpointResponse, WholeRequest } from '@svc/model/endpoint';
import {
  REFUSAL_SIZE,
  liftPairs,
  liftRefusal,
  lowerPairs,
  lowerStrings,
} from '../binding/canonical-values.ts';
import type { Handler } from '../binary/core-interface.ts';
import type { GuestMemory } from '../binding/guest-memory.ts';
import type { HandlerExport } from './handler-export.ts';

/** `result<response, refusal>`: tag 0, payload 4. */
const RESULT_SIZE = 4 + REFUSAL_SIZE;
const BODY = { none: 0, json: 1, text: 2, bytes: 3 } as const;
const BODY_CASES = 4;

export const HTTP_HANDLE: HandlerExport<WholeRequest, EndpointResponse | Refusal> = {
  function: ({ handle }) => handle,
  call: callHandle,
  lift: liftResponse,
  postReturn: ({ handlePost }) => handlePost,
};

function callHandle<Result>(
  memory: GuestMemory,
  handle: (...parameters: Parameters<Handler>) => Result,
  context: CallContext,
  request: WholeRequest,
): Result {
  const metadata = lowerPairs(memory, context.metadata);
  const metadataLength = memory.loweredLength;
  const parameters = lowerStrings(memory, request.parameters);
  const parametersLength = memory.loweredLength;
  const query = memory.lowerString(request.query);
  const queryLength = memory.loweredLength;
  const headers = lowerPairs(memory, request.headers);
  const headersLength = memory.loweredLength;
  const caller = memory.lowerString(request.caller);
  const callerLength = memory.loweredLength;
  const body = lowerBody(memory, request.body);
  const bodyLength = memory.loweredLength;
  return handle(
    BigInt(context.nowMs),
    context.seed,
    metadata,
    metadataLength,
    request.route,
    parameters,
    parametersLength,
    query,
    queryLength,
    headers,
    headersLength,
    caller,
    callerLength,
    BODY[request.body.kind],
    body,
    bodyLength,
  );
}

function lowerBody(memory: GuestMemory, body: Body): number {
  switch (body.kind) {
    case 'none':
      memory.loweredLength = 0;
      return 0;
    case 'json':
    case 'text':
      return memory.lowerString(body.text);
    case 'bytes':
      return memory.lowerBytes(body.bytes);
  }
}

/** `response`: status 0, headers 4, body 12 (its payload 16). */
function liftResponse(memory: GuestMemory, result: number): EndpointResponse | Refusal {
  const address = memory.record(result, RESULT_SIZE, 4);
  if (memory.tag(address, 2) === 1) return liftRefusal(memory, address + 4);
  const status = memory.u16(address + 4);
  const headers = liftPairs(memory, memory.u32(address + 8), memory.u32(address + 12));
  return { kind: 'response', status, headers, body: liftBody(memory, address + 16) };
}

function liftBody(memory: GuestMemory, address: number): Body {
  const kind = memory.tag(address, BODY_CASES);
  switch (kind) {
    case BODY.none:
      return { kind: 'none' };
    case BODY.bytes:
      return {
        kind: 'bytes',
        bytes: memory.byteList(memory.u32(address + 4), memory.u32(address + 8)),
      };
    default:
      return { kind: kind === BODY.json ? 'json' : 'text', text: memory.stringAt(address + 4) };
  }
}
