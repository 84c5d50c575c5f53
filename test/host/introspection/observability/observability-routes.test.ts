// ObservabilityRoutes, with a stand-in for the service: which paths and parameters they accept.
import { describe, expect, test } from 'vitest';
import { shown } from '../../../../kit/observed-answer.ts';
import { observed } from '../../../../host/introspection/observability/observability-routes.ts';
import type {
  ObservedService,
  TraceFilter,
} from '../../../../host/introspection/observability/observed-service.ts';
import { schemaProblems } from '../../../support/observed-process.ts';

const TRACES = {
  traces: [],
  window: { capacity: 1, recorded: 0 },
  total: 0,
  newer: 0,
  previous: null,
  next: null,
  silentShards: [],
};

/** Methods that a test does not provide must not be called. */
function asking(made: Partial<ObservedService> = {}) {
  const service = new Proxy(made as ObservedService, {
    get: (target, name: keyof ObservedService) =>
      target[name]?.bind(target) ??
      (() => {
        throw new Error(`nobody should ask for ${name}`);
      }),
  });
  return async (target: string) => observed(service, target);
}

const counting = () => {
  const asked: TraceFilter[] = [];
  return {
    asked,
    traces: async (filter: TraceFilter) => {
      asked.push(filter);
      return TRACES;
    },
  };
};

describe('a path', () => {
  test.each([
    ['/'],
    ['/observability'],
    ['/observability/'],
    ['/observability/nothing'],
    ['/observability/service/more'],
    ['/observability/traces/'],
    ['/observability/traces/a/b'],
    ['/observability/query/cart/c1'],
    ['/observability/query/cart/c1/get/more'],
    ['/observability/entities/cart/c1'],
    ['/observability/entities/cart/c1/future'],
    ['/observability/__proto__'],
    ['/Observability/service'],
    ['//observability/service'],
  ])('that is not there is 404: %s', async (path) => {
    const ask = asking();
    const { status, body } = await ask(path);
    expect(status).toBe(path === '/observability/traces/' ? 400 : 404);
    expect(schemaProblems('Problem', JSON.parse(body))).toEqual([]);
  });

  test('is taken apart before it is decoded', async () => {
    const asked: unknown[] = [];
    const ask = asking({
      query: async (query) => {
        asked.push(query);
        return shown({});
      },
    });
    await ask('/observability/query/cart/a%2Fb%3Fc%20d/get?input=%22x%22');
    expect(asked).toEqual([{ component: 'cart', id: 'a/b?c d', method: 'get', input: '"x"' }]);
  });
});

describe('what may be asked', () => {
  test('has defaults', async () => {
    const { asked, traces } = counting();
    const ask = asking({ traces });
    await ask('/observability/traces');
    expect(asked).toEqual([
      {
        limit: 100,
        component: undefined,
        outcomes: undefined,
        minDurationMs: 0,
        text: undefined,
        after: undefined,
      },
    ]);
  });

  test('is a text, and a duration with fractions', async () => {
    const { asked, traces } = counting();
    const ask = asking({ traces });
    await ask('/observability/traces?text=a%20b&min-duration-ms=0.25');
    expect(asked).toMatchObject([{ text: 'a b', minDurationMs: 0.25 }]);
  });

  test.each([
    ['traces?limit=0', 'limit takes a whole number from 1 to 1000'],
    ['traces?limit=1001', 'limit takes'],
    ['traces?limit=1e2', 'limit takes'],
    ['traces?limit=-1', 'limit takes'],
    ['traces?limit=', 'limit takes'],
    ['traces?outcome=Bad', 'outcome takes Ok, Refused, Failed, TimedOut'],
    ['traces?after=x', 'after takes the value of next'],
    ['traces?min-duration-ms=-1', 'min-duration-ms takes'],
    ['traces?min-duration-ms=1e3', 'min-duration-ms takes'],
    ['traces?min-duration-ms=86400001', 'min-duration-ms takes a number from 0 to 86400000'],
    [`traces?text=${'x'.repeat(201)}`, 'text takes at most 200 characters'],
    [
      'traces?minDurationMs=1',
      'This path takes limit, component, outcome, min-duration-ms, text, after',
    ],
    ['traces?limit=1&limit=2', 'each once at most'],
    ['service?x=1', 'takes no parameters'],
    ['faults?limit=201', 'limit takes'],
    ['entities/cart?limit=1001', 'limit takes'],
    ['entities/cart/c1/history?from=0', 'from takes'],
    ['entities/cart/c1/history?limit=201', 'limit takes'],
    ['query/cart/c1/get?input={', 'input takes JSON'],
    ['query/cart/%C3/get', 'percent-encoded'],
  ])('has bounds: %s is 400 and says why', async (path, why) => {
    const ask = asking();
    const { status, body } = await ask(`/observability/${path}`);
    expect([status, JSON.parse(body).error]).toEqual([400, expect.stringContaining(why)]);
  });
});
