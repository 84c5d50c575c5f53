// A module of one entity with a command and a query, and an endpoint with two routes.
import type { ModuleDescriptor } from '@svc/contract';

const COUNT = { type: 'number', format: 'double' } as const;

export function handlersDescriptor(): ModuleDescriptor {
  return {
    protocol: '0.1.0',
    sdk: { name: 'test', version: '0.0.0' },
    types: {},
    entities: [
      {
        component: 'counter',
        commands: [{ name: 'add', input: COUNT, reply: COUNT }],
        queries: [{ name: 'get', reply: COUNT }],
        event: { manifest: 'counter-event', schema: COUNT },
        state: { manifest: 'counter', schema: COUNT },
      },
    ],
    endpoints: [
      {
        name: 'CounterEndpoint',
        prefix: '/counters',
        access: { allow: 'internet' },
        routes: [
          { method: 'GET', path: '/{id}', handler: 'show', parameters: [] },
          { method: 'POST', path: '/{id}', handler: 'add', parameters: [] },
        ],
      },
    ],
  };
}
