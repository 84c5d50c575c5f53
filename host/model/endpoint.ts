// A request and a response of an endpoint, as the guest sees them, and who waits for the response.
import type { Refusal, Reply, Spent } from './call.ts';
import type { GuestFault } from './guest-fault.ts';
import { type KeptBytes, textBytes } from './kept-bytes.ts';

export type Body =
  | { readonly kind: 'none' }
  /** JSON or plain text; well-formed Unicode. */
  | { readonly kind: 'json' | 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface EndpointRequest {
  /** Index of the route in the descriptor, counted over all endpoints in order. */
  readonly route: number;
  /** In the order of the template, percent-decoded. */
  readonly parameters: readonly string[];
  /** Without the question mark. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: HeaderList;
  /** `internet`, `service <project>/<service>` or `local`. */
  readonly caller: string;
  readonly body: Body;
  /**
   * Not told to the handler, which finds the header: what its calls get their idempotency keys from. Undefined
   * where the request has none that counts.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface EndpointResponse {
  readonly kind: 'response';
  /** 200 to 599. */
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Body;
}

/** What an answer of a handler or an entity takes in memory, roughly. */
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

/** Who waits for the answer of a handler, and learns what it has cost. */
export interface AnswerWaiter extends Spent {
  /** Set by whoever runs the handler, where it could not answer at once: to be called when nobody waits any more. */
  giveUp: ((reason: GuestFault) => void) | undefined;
  /** What is in memory for the answer until its caller has it. */
  readonly kept: KeptBytes;
}
