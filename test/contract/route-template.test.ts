// RouteTemplate: how the path of a route is split, and which paths are refused.
import { SEGMENTS_MAX, parseRouteTemplate, routeTemplate } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { templateShape } from '../../contract/route-template.ts';

const shapeOf = (template: string) => {
  const parsed = parseRouteTemplate(template);
  return parsed.ok ? templateShape(parsed.segments) : parsed.problem;
};

describe('a template', () => {
  test('is the endpoint’s prefix and the route’s path, and never nothing', () => {
    expect(routeTemplate('/carts', '/{id}')).toBe('/carts/{id}');
    expect(routeTemplate('', '')).toBe('/');
  });

  test('is its segments, with literals decoded', () => {
    expect(parseRouteTemplate('/a/{b}/c%20d/')).toEqual({
      ok: true,
      segments: [
        { kind: 'literal', text: 'a' },
        { kind: 'parameter', name: 'b' },
        { kind: 'literal', text: 'c d' },
        { kind: 'literal', text: '' },
      ],
    });
  });

  test('may have as many segments as a path, and no more', () => {
    expect(parseRouteTemplate('/a'.repeat(SEGMENTS_MAX)).ok).toBe(true);
    expect(parseRouteTemplate('/a'.repeat(SEGMENTS_MAX + 1))).toMatchObject({
      problem: `has more than ${SEGMENTS_MAX} segments`,
    });
  });

  test.each([
    ['/{a}/{a}', "the parameter 'a' twice"],
    ['/a{b}', 'a brace in the middle'],
    ['/{a}b', 'a brace in the middle'],
    ['/{{a}}', 'a brace in the middle'],
    ['//a', 'an empty segment'],
    ['/.', 'no request can name'],
    ['/%2e%2e/a', 'no request can name'],
    ['/%ff', 'no request can name'],
    ['/%', 'no request can name'],
  ])('is not %s', (template, problem) => {
    expect(parseRouteTemplate(template)).toMatchObject({
      ok: false,
      problem: expect.stringContaining(problem),
    });
  });

  test('has the shape of those that match the same requests', () => {
    expect(shapeOf('/a/{b}')).toBe(shapeOf('/%61/{c}'));
    expect(shapeOf('/a/{b}')).not.toBe(shapeOf('/{a}/b'));
    expect(shapeOf('/a/b')).not.toBe(shapeOf('/a%2Fb'));
    expect(shapeOf('/%7B%7D')).not.toBe(shapeOf('/{a}'));
  });
});
