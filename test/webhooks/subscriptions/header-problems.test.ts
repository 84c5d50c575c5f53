// The headers that a subscription may add to its deliveries.
import { describe, expect, test } from 'vitest';
import { URL_GIVEN, problemsOf } from './checked-requests.ts';

const problemsOfHeaders = (headers: unknown) => problemsOf({ url: URL_GIVEN, headers });

describe('headers', () => {
  test.each([
    'Host',
    'host',
    'Content-Type',
    'Content-Length',
    'content-anything',
    'Connection',
    'Keep-Alive',
    'Proxy-Connection',
    'Proxy-Authorization',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
    'X-Hook-Signature',
    'x-hook-own',
  ])('%s is reserved', (name) => {
    expect(problemsOfHeaders({ [name]: 'a' })).toEqual([
      `/headers/${name} is a header that the service sets itself, or one of the connection`,
    ]);
  });

  test('that differ in case alone are the same', () => {
    expect(problemsOfHeaders({ 'X-A': '1', 'x-b': '2', 'x-a': '3' })).toEqual([
      '/headers/x-a is the header "X-A" once more, since case makes no difference',
    ]);
  });

  test.each(['é', 'a\rb', 'a\nb', 'a\tb', 'a\0', '\x7f', '😀'])(
    'the value %j is refused',
    (value) => {
      expect(problemsOfHeaders({ 'X-A': value })).toEqual([
        '/headers/X-A has a value with something else than visible characters of ASCII and spaces',
      ]);
    },
  );

  test('have limits of length and number', () => {
    const headers = Object.fromEntries(
      Array.from({ length: 32 }, (_, index) => [`X-${index}`, 'v'.repeat(4_096)]),
    );
    expect(problemsOfHeaders(headers)).toEqual([]);
    expect(problemsOfHeaders({ ...headers, 'X-A': '' })).toEqual([
      '/headers has 33 headers, and may have 32',
    ]);
    expect(problemsOfHeaders({ 'X-A': 'v'.repeat(4_097), 'X-B': null })).toEqual([
      '/headers/X-A has a value of more than 4096 characters',
      '/headers/X-B is not a text',
    ]);
    expect(problemsOfHeaders({ ['X'.repeat(257)]: '' })).toEqual([
      expect.stringMatching(/^\/headers\/X{256} has a name of more than 256 characters$/),
    ]);
  });
});
