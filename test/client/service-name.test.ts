// Names of services: references, which admitted services are named, and addresses within a cluster.
import { describe, expect, test } from 'vitest';
import {
  clusterHost,
  isProjectId,
  isServiceName,
  namesService,
  SERVICE_REFERENCE_LENGTH_MAX,
  serviceReferenceOf,
} from '../../client/index.ts';

describe('a reference', () => {
  test('names a service of the own project, or one of another', () => {
    expect(serviceReferenceOf('billing')).toEqual({ service: 'billing', project: undefined });
    expect(serviceReferenceOf('a-1.b-2')).toEqual({ service: 'a-1', project: 'b-2' });
  });

  test.each(['', '.', 'a.', '.b', 'a.b.c', 'A', 'a%62', 'a-', '-a', 'a_b', 'a/b', 'a'.repeat(128)])(
    'cannot be %j',
    (text) => {
      expect(serviceReferenceOf(text)).toBeUndefined();
    },
  );

  test.each(['a', 'a1', 'a--1', '1a', '1', 'a.', 'a-', 'é', 'a'.repeat(57), 'a'.repeat(58)])(
    'names a service by its name, and a project by its id: %j',
    (name) => {
      expect(serviceReferenceOf(name) !== undefined).toBe(isServiceName(name));
      expect(serviceReferenceOf(`${name}.shop`) !== undefined).toBe(isServiceName(name));
      expect(serviceReferenceOf(`cart.${name}`) !== undefined).toBe(isProjectId(name));
    },
  );

  test('is as long as the longest name and the longest id', () => {
    const longest = `${'a'.repeat(63)}.${'b'.repeat(57)}`;
    expect(serviceReferenceOf(longest)).toEqual({
      service: 'a'.repeat(63),
      project: 'b'.repeat(57),
    });
    expect(longest).toHaveLength(SERVICE_REFERENCE_LENGTH_MAX);
    expect(serviceReferenceOf('a'.repeat(64))).toBeUndefined();
    expect(serviceReferenceOf(`cart.${'b'.repeat(58)}`)).toBeUndefined();
  });
});

test('the id of a project is short enough to be a part of the name of a namespace', () => {
  expect(isProjectId('a'.repeat(57))).toBe(true);
  expect(isProjectId('a'.repeat(58))).toBe(false);
  expect(isProjectId('a-')).toBe(false);
  expect(isServiceName('a'.repeat(63))).toBe(true);
  expect(isServiceName('a'.repeat(64))).toBe(false);
});

test('the name of a service within the cluster has its project in its namespace', () => {
  expect(clusterHost({ project: 'shop', service: 'cart' })).toBe('cart.svc-shop.svc.cluster.local');
});

describe('a list of admitted services', () => {
  const cart = { project: 'shop', service: 'cart' };

  test.each([
    [['cart'], 'shop', true],
    [['cart.shop'], 'shop', true],
    [['cart.shop'], 'bank', true],
    [['cart'], 'bank', false],
    [['cart.bank'], 'shop', false],
    [['car', 'cart2', 'shop'], 'shop', false],
    [[], 'shop', false],
    [undefined, 'shop', true],
    [undefined, 'bank', false],
    [undefined, undefined, false],
  ])('%j in the project %s', (services, ownProject, isNamed) => {
    expect(namesService(services, cart, ownProject)).toBe(isNamed);
  });
});
