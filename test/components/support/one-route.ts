// A guest with one route, whose handler runs a function of the test with the context of handlers.
import type { HostCalls } from '../../../model/guest.ts';
import type { CallingContext } from '../../../components/calling-context.ts';
import type { Components } from '../../../components/components.ts';
import { createEmbeddedGuest } from '../../../components/embedded-guest.ts';
import { defineEndpoint } from '../../../components/endpoint-definition.ts';
import { post } from '../../../components/route-definition.ts';
import type { CallContext, Refusal } from '../../../model/call.ts';
import type { EndpointResponse } from '../../../model/endpoint.ts';
import { WITHOUT_TIMERS } from '../../support/without-timers.ts';

const context: CallContext = { nowMs: 5, seed: 7n, metadata: [] };

/** `calls`: the calls that the handler may make, besides those that reply null. */
export async function handledByRoute(
  components: Components,
  handle: (given: CallingContext) => Promise<unknown>,
  calls: Partial<HostCalls> = {},
): Promise<EndpointResponse | Refusal> {
  const route = post('', {}, async (_request, given) => void (await handle(given)));
  const endpoint = defineEndpoint({ prefix: '/e', access: 'local', routes: { only: route } });
  const guest = createEmbeddedGuest({ ...components, endpoints: [endpoint] });
  const request = { route: 0, parameters: [], query: '', headers: [], caller: 'local' } as const;
  return guest.endpoints.handle(
    context,
    { ...request, body: { kind: 'none' } },
    {
      nowMs: () => 6,
      call: () => ({ kind: 'reply', json: 'null' }),
      readEvents: () => [],
      ...WITHOUT_TIMERS,
      ...calls,
    },
  );
}
