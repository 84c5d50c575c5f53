// A request and a response of an endpoint as the guest sees them, and AnswerWaiter, which receives the response.
import type { Refusal, Reply, Spent } from './call.ts';
import type { GuestFault } from './guest-fault.ts';
import { type KeptBytes, textBytes } from './kept-bytes.ts';

export type Body =
  | { readonly kind: 'none' }
  /** JSON or plain text, in well-formed Unicode. */
  | { readonly kind: 'json' | 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

/** The body of a request that may still be arriving. */
export interface UnreadBody {
  readonly kind: 'unread';
  /**
   * Reads the body; later calls return the same promise. Resolves with the answer to the request instead if the route does
   * not take this body or a header, or if nobody can receive an answer any more. Rejects with SVC_OVERLOADED.
   */
  read(): Promise<Body | EndpointResponse | Refusal>;
}

export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface EndpointRequest {
  /** Index of the route in the descriptor, counted over all endpoints in order. */
  readonly route: number;
  /** Values of the parameters in the path, in the order of the route's template, percent-decoded. */
  readonly parameters: readonly string[];
  /** Query string without the question mark. */
  readonly query: string;
  /** Headers with names in lower case. */
  readonly headers: HeaderList;
  /** Sender of the request: `internet`, `service <project>/<service>` or `local`. */
  readonly caller: string;
  /** Unread only for endpoints that read bodies themselves (`GuestEndpoints.readsBodies`). */
  readonly body: Body | UnreadBody;
  /**
   * The idempotency keys of the handler's calls are derived from this key. The handler does not receive it, but can
   * read the header Idempotency-Key. Undefined if the request has no valid key.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A request whose body was read. */
export interface WholeRequest extends EndpointRequest {
  readonly body: Body;
}

export function isWhole(request: EndpointRequest): request is WholeRequest {
  return request.body.kind !== 'unread';
}

export interface EndpointResponse {
  readonly kind: 'response';
  /** 200 to 599. */
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Body;
}

/** Returns the approximate memory of an answer of a handler or an entity, in bytes. */
export function outcomeBytes(outcome: EndpointResponse | Reply | Refusal): number {
  if (outcome.kind === 'reply') return textBytes(outcome.json);
  if (outcome.kind === 'refusal')
    return textBytes(outcome.message) + textBytes(outcome.details ?? '');
  const { headers, body } = outcome;
  let bytes = 0;
  if (body.kind !== 'none')
    bytes = body.kind === 'bytes' ? body.bytes.length : textBytes(body.text);
  for (const [name, value] of headers) bytes += name.length + value.length;
  return bytes;
}

/** Receives a handler's answer and the fuel that it used. */
export interface AnswerWaiter extends Spent {
  /** Cancels the handler. The runner of the handler sets it if the answer is not available at once. */
  cancel: ((reason: GuestFault) => void) | undefined;
  /** Counts the memory that is held for the answer until its caller has received it. */
  readonly kept: KeptBytes;
  /** Present for a request that another shard has sent here; absent for a request of a client. */
  readonly forwarded?: ForwardedRequest | undefined;
}

/** Data that is sent back with the answer to the shard that forwarded a request. */
export interface ForwardedRequest {
  /** Whether the first entity that the handler called belongs to a shard other than this one. */
  wasMisrouted: boolean;
}
