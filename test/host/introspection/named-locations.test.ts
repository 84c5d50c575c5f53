// NamedLocations: faults are named after the author's handlers, and never after the module's exports.
import type { InvocationKind } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { namedLocations } from '../../../host/introspection/named-locations.ts';

const shown = (name: string | null, kind: InvocationKind) => {
  const location = { file: 'assembly/index.ts', line: 1, column: null, function: name };
  const run = { kind, component: 'bill', handler: 'share' };
  return namedLocations([location], run)[0]!.function;
};

describe('the function of a location', () => {
  test.each([
    ['entity_query', 'query', 'bill.share'],
    ['entity_command', 'command', 'bill.share'],
    ['entity_apply', 'command', 'bill.apply'],
    ['entity_constructor', 'query', 'bill'],
    ['entity_snapshot', 'command', 'bill'],
    ['http_handle', 'endpoint', 'bill.share'],
    ['entity_command', 'firing', 'bill.share'],
    ['consumer_handle', 'consumer', 'bill.share'],
  ] as const)('that the optimizer left as %s is named after the %s', (name, kind, expected) => {
    expect(shown(name, kind)).toBe(expected);
  });

  test('of a call is not named after the request that failed with it, nor the other way round', () => {
    expect(shown('entity_query', 'endpoint')).toBeNull();
    expect(shown('http_handle', 'query')).toBeNull();
    expect(shown('entity_command', 'consumer')).toBeNull();
    expect(shown('consumer_handle', 'command')).toBeNull();
    expect(shown('http_handle', 'consumer')).toBeNull();
  });

  test('that has a name of its author keeps it, and one without has none', () => {
    expect(shown('Bill.share', 'query')).toBe('Bill.share');
    expect(shown(null, 'query')).toBeNull();
  });
});
