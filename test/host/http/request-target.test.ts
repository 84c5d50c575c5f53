import { describe, expect, test } from 'vitest';
import { SEGMENTS_MAX } from '@svc/contract';
import { parseRequestTarget } from '../../../host/http/request-target.ts';

function path(target: string): readonly string[] | string {
  const parsed = parseRequestTarget(target);
  return parsed.kind === 'path' ? parsed.segments : parsed.kind;
}

describe('parseRequestTarget', () => {
  test.each<[string, string[]]>([
    ['/', ['']],
    ['/a', ['a']],
    ['/a/', ['a', '']],
    ['//a', ['', 'a']],
    ['/a//b', ['a', '', 'b']],
    ['/a/./../b', ['a', '.', '..', 'b']],
    ['/a%2Fb/c', ['a/b', 'c']],
    ['/a%2fb', ['a/b']],
    ['/%2e%2E', ['..']],
    ['/caf%C3%A9', ['café']],
    ['/%F0%9F%98%80', ['😀']],
    ['/a+b', ['a+b']],
    ['/a%20b', ['a b']],
    ['/a%00b', ['a\0b']],
    ['/%2525', ['%25']],
    ['/a;v=1/b', ['a;v=1', 'b']],
  ])('the path %s has the segments %j', (target, segments) => {
    expect(path(target)).toEqual(segments);
  });

  test.each([
    ['a lone percent sign', '/a%'],
    ['half an escape', '/a%4'],
    ['no hexadecimal digits', '/a%zz'],
    ['a byte that no character begins with', '/%ff'],
    ['a truncated character', '/%C3'],
    ['an overlong slash', '/%C0%AF'],
    ['a surrogate', '/%ED%A0%80'],
    ['a character beyond Unicode', '/%F4%90%80%80'],
    ['a character cut by a slash', '/%C3/%A9'],
  ])('%s is malformed', (_what, target) => {
    expect(path(target)).toBe('malformed');
  });

  test('the query is passed as it arrived', () => {
    expect(parseRequestTarget('/a?x=%zz&y=a/b?c&z=%C3%A9')).toEqual({
      kind: 'path',
      segments: ['a'],
      query: 'x=%zz&y=a/b?c&z=%C3%A9',
    });
    expect(parseRequestTarget('/a?')).toMatchObject({ query: '' });
  });

  test('an asterisk is the server', () => {
    expect(path('*')).toBe('server');
  });

  test('a path of very many segments is cut off', () => {
    expect(path('/a'.repeat(100_000))).toHaveLength(SEGMENTS_MAX + 1);
  });

  test.each([SEGMENTS_MAX - 1, SEGMENTS_MAX, SEGMENTS_MAX + 1])(
    'a path of %i segments has them all, each up to its slash',
    (count) => {
      const segments = Array.from({ length: count }, (_, index) => `s${index}`);
      expect(path(`/${segments.join('/')}`)).toEqual(segments);
      // Segments beyond the maximum are not decoded.
      const cut = Array.from({ length: SEGMENTS_MAX + 1 }, (_, index) => segments[index] ?? 'x');
      expect(path(`/${cut.join('/')}/%ff/b`)).toEqual(cut);
    },
  );
});
