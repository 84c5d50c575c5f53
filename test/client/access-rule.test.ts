// The one syntax of access rules: endpoints of modules and descriptors of web-hosted services name services alike.
import { expect, expectTypeOf, test } from 'vitest';
import type { AccessRule as DescriptorAccessRule } from '@svc/contract';
import {
  ADMITTED_SERVICES_MAX,
  descriptorProblems,
  isServiceReference,
  type AccessRule,
} from '../../client/index.ts';
import { parseModuleDescriptor } from '../../contract/index.ts';

/** Whether the rule of an endpoint may name the services. */
function isEndpointRule(services: readonly string[]): boolean {
  const descriptor = {
    protocol: '0.1.0',
    sdk: { name: 'sdk', version: '0.1.0' },
    entities: [],
    endpoints: [{ name: 'A', prefix: '/a', access: { allow: 'services', services }, routes: [] }],
    types: {},
  };
  const parsed = parseModuleDescriptor(JSON.stringify(descriptor));
  if (parsed.ok) return true;
  expect(JSON.stringify(parsed)).toContain('/endpoints/0/access');
  return false;
}

/** Whether the descriptor of a web-hosted service may name the callers. */
function areCallers(callers: readonly string[]): boolean {
  const web = { name: 'a', image: 'a', hosting: 'process', protocol: 'http/1.1', callers };
  return descriptorProblems(web).length === 0;
}

test('the types are the same', () => {
  expectTypeOf<DescriptorAccessRule['allow']>().toEqualTypeOf<AccessRule['allow']>();
  const rule: AccessRule = { allow: 'nobody' } satisfies DescriptorAccessRule;
  expect(rule.allow).toBe('nobody');
});

test.each([
  'cart',
  'cart.shop',
  '1a',
  'a-b.c-d',
  'Cart',
  'cart.',
  '.shop',
  'a.b.c',
  '*',
  '',
  'a-',
  'a'.repeat(63),
  'a'.repeat(64),
  `cart.${'a'.repeat(57)}`,
  `cart.${'a'.repeat(58)}`,
  'cart.1a',
])('an endpoint and a web-hosted service admit %j alike', (name) => {
  expect(areCallers([name])).toBe(isServiceReference(name));
  expect(isEndpointRule([name])).toBe(isServiceReference(name));
});

test('a rule names a limited number of services', () => {
  const names = Array.from({ length: ADMITTED_SERVICES_MAX + 1 }, (_, index) => `a${index}`);
  for (const isRule of [areCallers, isEndpointRule]) {
    expect(isRule(names.slice(1))).toBe(true);
    expect(isRule(names)).toBe(false);
  }
});
