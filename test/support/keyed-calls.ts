// KeyedCalls: calls of entities by flows, as a request with an idempotency key makes them.
import type { EndpointContext } from '@svc/host';

type Call = EndpointContext['call'];

/**
 * Returns calls as the handler of a request makes them that has an idempotency key: each command has the key of the request, its
 * name, and its number among the commands of that name on that entity.
 */
export function keyedCalls(call: Call, requestKey: string): Call {
  const counts = new Map<string, number>();
  const keyed = (...[entity, id]: Parameters<Call>) =>
    new Proxy(call(entity, id), {
      get: (client, name) => {
        const method = client[name as keyof typeof client] as unknown;
        if (name === 'withIdempotencyKey') return (key: string) => client.withIdempotencyKey(key);
        if (typeof method !== 'function') return method;
        return (...input: unknown[]) => {
          const what = `${entity.component} ${id} ${String(name)}`;
          const count = (counts.get(what) ?? 0) + 1;
          counts.set(what, count);
          const named = client.withIdempotencyKey(`${requestKey}.${String(name)}.${count}`);
          return Reflect.apply(named[name as keyof typeof named] as () => unknown, named, input);
        };
      },
    });
  return keyed as Call;
}
