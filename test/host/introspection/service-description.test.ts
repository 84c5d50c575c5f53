// What a service says of access tokens: which of its routes ask for one, and whether it takes those of the machine's own key.
import type { ModuleDescriptor } from '@svc/contract';
import { expect, test } from 'vitest';
import { serviceDescription } from '../../../host/introspection/service-description.ts';

const route = (path: string, more: object = {}) => ({
  method: 'GET',
  path,
  handler: 'get',
  parameters: [],
  ...more,
});
const endpoint = (name: string, more: object) => ({
  name,
  prefix: `/${name}`,
  access: { allow: 'internet' },
  ...more,
});
const RULE = { roles: { any: ['librarian'] } };
const descriptor = {
  sdk: { name: 'sdk', version: '1' },
  types: {},
  entities: [],
  endpoints: [
    endpoint('open', { routes: [route('/a'), route('/b', { bearer: RULE })] }),
    endpoint('asking', { bearer: RULE, routes: [route('/c')] }),
  ],
} as unknown as ModuleDescriptor;

const described = (takesDevelopmentTokens: boolean) =>
  serviceDescription({
    name: 'books',
    instanceId: '0123456789abcdef',
    runtimeVersion: '0.1.0',
    startedAt: '2030-01-02T03:04:05.678Z',
    pid: 1,
    dev: false,
    url: undefined,
    shards: 1,
    control: undefined,
    takesDevelopmentTokens,
    fingerprint: '0123',
    descriptor,
  });

test('routes that ask for a token by their own rule or that of their endpoint say so', () => {
  expect(described(false).routes.map(({ path, bearer }) => [path, bearer])).toEqual([
    ['/open/a', undefined],
    ['/open/b', true],
    ['/asking/c', true],
  ]);
});

test('a service that takes development tokens says so, and others do not', () => {
  expect(described(true)).toMatchObject({ developmentTokens: true });
  expect(described(false)).not.toHaveProperty('developmentTokens');
});
