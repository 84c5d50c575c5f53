// Which paths belong to a mount, and which are refused because another reading of them would lead elsewhere.
import { assert, constantFrom, array, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MountTable } from '../../forward/mounts.ts';

const table = new MountTable([
  { path: '/m', service: 'outer' },
  { path: '/m/n', service: 'inner' },
  { path: '/a/b', service: 'deep' },
]);

/** `process`, `ambiguous`, or the service and the path that it gets. */
function routed(path: string, mounts = table): string {
  const found = mounts.route(path);
  return found.kind === 'mount' ? `${found.service} ${found.path}` : found.kind;
}

describe('P26: a path', () => {
  test.each([
    ['/m', 'outer /'],
    ['/m/', 'outer /'],
    ['/m?x=1', 'outer /?x=1'],
    ['/m/?x', 'outer /?x'],
    ['/m/x/y?z', 'outer /x/y?z'],
    ['/m/x/', 'outer /x/'],
    ['/m//x', 'outer //x'],
    ['/m/n', 'inner /'],
    ['/m/n/x', 'inner /x'],
    ['/m/nn', 'outer /nn'],
    ['/a/b/c', 'deep /c'],
    ['/m/a%20b%2Fc', 'outer /a%20b%2Fc'],
    ['/m/%zz/%', 'outer /%zz/%'],
    ['/m/x;v=1', 'outer /x;v=1'],
    ['/m/.', 'outer /.'],
    ['/m/x?/../n', 'outer /x?/../n'],
    ['/m?%2e%2e/x', 'outer /?%2e%2e/x'],
    ['/m/x/../y', 'outer /x/../y'],
  ])('under a mount is passed without it: %s', (path, expected) => {
    expect(routed(path)).toBe(expected);
  });

  test.each([
    '/',
    '*',
    '/mm',
    '/mm/x',
    '/M',
    '/M/x',
    '/x/m',
    '/a',
    '/a/',
    '/a/bb',
    '/a?/b',
    '/files/a%20b',
    '/files//x',
    '/files/../files/x',
    '/.well-known/acme',
    '/?/m/x',
    '/x?to=/m/../n',
    '/caf%C3%A9/%00',
    String.raw`/x\y`,
    // Readings that are not compared.
    '/%u006d/x',
    '/m%c0%afx',
    '/m%20/x',
    '/m./x',
  ])('that belongs to no mount goes to the process: %s', (path) => {
    expect(routed(path)).toBe('process');
  });

  test.each([
    // Percent-encodings, once and several times.
    '/%6d/x',
    '/%6D',
    '/%256d/x',
    '/%25256d/x',
    '/a%2fb',
    '/a%2Fb/c',
    '/a%5cb',
    '/m%2fn/x',
    '/m%2Fx',
    '/m/%6e/x',
    // Separators and empty segments.
    '//m/x',
    '///m',
    '/m//n/x',
    '/a//b',
    String.raw`/m\n`,
    String.raw`/m\x`,
    String.raw`/\m`,
    '//host/m/x',
    '/%2fhost/m',
    // Dot segments, also encoded.
    '/m/../x',
    '/m/..',
    '/m/%2e%2e/x',
    '/m/.%2E/x',
    '/m/..%2fx',
    '/m/n/../x',
    '/m/./n',
    '/./m',
    '/x/../m/y',
    '/x/%2e%2e%2fm/y',
    '/x/..%5cm',
    '/a/x/../b',
    '/m/a/../../x',
    '/m/a%2Fb/%2e%2e/%2e%2e/x',
    '/m/%252e%252e/x',
    '/m//../x',
    // Parameters of segments.
    '/m;v=1/x',
    '/m;/x',
    '/m/..;/x',
    '/m/n;x=1',
    '/;a/m',
    // What may end a path once it is decoded.
    '/m%3Fx',
    '/m%23x',
    '/m%00x',
    '/m/n%00',
  ])('that another reading leads elsewhere is ambiguous: %s', (path) => {
    expect(routed(path)).toBe('ambiguous');
  });

  test('is compared raw if the service has no mounts', () => {
    const none = new MountTable([]);
    for (const path of ['/m/../x', '//m', '/%6d', String.raw`/\m`, '*'])
      expect(routed(path, none)).toBe('process');
  });

  test('that is long and has several readings is ambiguous', () => {
    expect(routed(`/x/${'a'.repeat(5000)}`)).toBe('process');
    expect(routed(`/x/${'a'.repeat(5000)}%20`)).toBe('ambiguous');
    expect(routed(`/x?${'%2e'.repeat(5000)}`)).toBe('process');
  });

  test.each(['%25', '%2e', '/.', ';', '//', '%252e/', String.raw`\..;`])(
    'of many repetitions of %s is judged within the limit of its length',
    (part) => {
      const path = `/x/${part.repeat(Math.floor(2000 / part.length))}`;
      expect(['process', 'ambiguous']).toContain(routed(path));
    },
  );

  test('goes where the URL parser of a browser would lead it, or is ambiguous', () => {
    const parts = constantFrom('/', 'm', 'n', 'x', '..', '.', '%2e', '%2F', '%6d', '\\', ';', '//');
    assert(
      property(array(parts, { maxLength: 8 }), (list) => {
        const path = `/${list.join('')}`;
        const direct = routed(path);
        if (direct === 'ambiguous') return;
        const parsed = new URL(`http://host${path}`).pathname;
        const mount = ['/m/n', '/m'].find((one) => parsed === one || parsed.startsWith(`${one}/`));
        const destination = { '/m/n': 'inner', '/m': 'outer' }[mount ?? ''] ?? 'process';
        expect([destination, path]).toEqual([direct.split(' ')[0], path]);
      }),
      { numRuns: 3000 },
    );
  });
});
