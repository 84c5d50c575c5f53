// ServedUnits bounds the calls and requests of other nodes that a shard works on, by their texts. They count until they are done,
// also when the connection that has brought them has ended.
import type { Awaitable } from '@svc/model/call';
import type { EndpointRequest } from '@svc/model/endpoint';
import { SvcError } from '@svc/kit/svc-error';
import type { ForwardedCall } from '../shards/frame.ts';
import { SERVED_UNITS_EACH } from './remoting-limits.ts';

type Pairs = readonly (readonly [name: string, value: string])[];

export class ServedUnits {
  readonly #unitsMax: number;
  #units = 0;

  constructor(unitsMax: number) {
    this.#unitsMax = unitsMax;
  }

  /** Units of all that this shard works on. */
  get units(): number {
    return this.#units;
  }

  /** Returns the answer of `work`, whose texts count until then. Throws SVC_OVERLOADED. */
  during<Answer>(units: number, work: () => Awaitable<Answer>): Awaitable<Answer> {
    if (this.#units + units > this.#unitsMax)
      throw new SvcError(
        'SVC_OVERLOADED',
        'Calls of other nodes fill the memory that is there for them. Try again later.',
      );
    const answer = work();
    if (!(answer instanceof Promise)) return answer;
    this.#units += units;
    answer.then(
      () => this.#free(units),
      () => this.#free(units),
    );
    return answer;
  }

  #free(units: number): void {
    this.#units -= units;
  }
}

export function unitsOfCall([
  { component, id },
  name,
  input,
  metadata,
  key,
]: ForwardedCall): number {
  const own = component.length + id.length + name.length + input.length + (key?.length ?? 0);
  return SERVED_UNITS_EACH + own + unitsOfPairs(metadata);
}

export function unitsOfRequest(request: EndpointRequest, metadata: Pairs): number {
  const { query, parameters, headers, caller, body, idempotencyKey } = request;
  let units = SERVED_UNITS_EACH + query.length + caller.length + (idempotencyKey?.length ?? 0);
  for (const parameter of parameters) units += parameter.length;
  units += unitsOfPairs(headers) + unitsOfPairs(metadata);
  if (body.kind === 'bytes') return units + body.bytes.length;
  return body.kind === 'json' || body.kind === 'text' ? units + body.text.length : units;
}

function unitsOfPairs(pairs: Pairs): number {
  let units = 0;
  for (const [name, value] of pairs) units += name.length + value.length;
  return units;
}
