// The components that tools get: they have the routes of the control plane, so that an upgrade is checked with all of it.
import { expect, test } from 'vitest';
import { ROUTES } from '@svc/client';
import { openApi } from '@svc/host';
import { components } from '../../control-plane/components.ts';

interface Operation {
  readonly security: readonly object[];
  readonly responses: object;
}
const { paths } = openApi(components, {
  title: 'control plane',
  version: '1',
  errors: 'plain',
}) as unknown as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

test('tools know every route', () => {
  const known = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const table = Object.values(ROUTES).map(({ method, path }) => `${method} ${path}`);
  expect(known.toSorted()).toEqual([...table, 'GET /openapi.json'].toSorted());
});

test('the route of the OpenAPI document declares its token and its refusals', () => {
  const { security, responses } = paths['/openapi.json']!['get']!;
  expect(security).toHaveLength(1);
  expect(Object.keys(responses)).toEqual(
    expect.arrayContaining(['200', '400', '401', '429', '503']),
  );
});
