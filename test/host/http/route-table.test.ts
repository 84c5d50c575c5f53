import { describe, expect, test } from 'vitest';
import { SEGMENTS_MAX } from '@svc/contract';
import { RouteTable } from '../../../host/http/route-table.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { descriptorOf, type RouteSketch } from './http-harness.ts';

const WORDS = ['a', 'b', 'c', ''];

function tableOf(...routes: RouteSketch[]): RouteTable {
  return new RouteTable(descriptorOf(routes));
}

function find(table: RouteTable, method: string, path: string): string {
  const found = table.find(method, path.slice(1).split('/'));
  if (found.kind === 'found') return [found.route.index, ...found.parameters].join(' ');
  return found.kind === 'none' ? 'none' : found.allow;
}

function refusal(...routes: RouteSketch[]): SvcError {
  try {
    tableOf(...routes);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('the table was built');
}

describe('RouteTable', () => {
  test('parameters arrive in the order of the template', () => {
    const table = tableOf(['GET', '/a/{x}/b/{y}']);
    expect(find(table, 'GET', '/a/1/b/2')).toBe('0 1 2');
  });

  test('routes are counted over all endpoints in order', () => {
    const one = descriptorOf([
      ['GET', '/a'],
      ['GET', '/b'],
    ]);
    const two = descriptorOf([['GET', '/c']]);
    const table = new RouteTable({
      ...one,
      endpoints: [...one.endpoints, { ...two.endpoints[0]!, prefix: '/p' }],
    });
    expect(find(table, 'GET', '/p/c')).toBe('2');
  });

  test('a literal segment is preferred over a parameter at the same position', () => {
    const table = tableOf(['GET', '/carts/{id}'], ['GET', '/carts/top']);
    expect(find(table, 'GET', '/carts/top')).toBe('1');
    expect(find(table, 'GET', '/carts/topp')).toBe('0 topp');
  });

  test('the earliest position decides which route has the literal', () => {
    const table = tableOf(['GET', '/{x}/b'], ['GET', '/a/{y}']);
    expect(find(table, 'GET', '/a/b')).toBe('1 b');
    expect(find(table, 'GET', '/c/b')).toBe('0 c');
  });

  test('a literal that leads nowhere gives way to the parameter', () => {
    const table = tableOf(['GET', '/a/b/c'], ['GET', '/a/{x}/d'], ['GET', '/{y}/b/e']);
    expect(find(table, 'GET', '/a/b/d')).toBe('1 b');
    expect(find(table, 'GET', '/a/b/e')).toBe('2 a');
    expect(find(table, 'GET', '/a/b/f')).toBe('none');
  });

  test('a literal route of another method does not hide a parameter route', () => {
    const table = tableOf(['POST', '/a/b'], ['GET', '/a/{x}']);
    expect(find(table, 'GET', '/a/b')).toBe('1 b');
    expect(find(table, 'POST', '/a/b')).toBe('0');
    expect(find(table, 'PUT', '/a/b')).toBe('GET, HEAD, POST, OPTIONS');
    expect(find(table, 'PUT', '/a/c')).toBe('GET, HEAD, OPTIONS');
  });

  test('HEAD finds the route of GET and no other', () => {
    const table = tableOf(['GET', '/a'], ['POST', '/b']);
    expect(find(table, 'HEAD', '/a')).toBe('0');
    expect(find(table, 'HEAD', '/b')).toBe('POST, OPTIONS');
  });

  test('a trailing slash makes another path', () => {
    const table = tableOf(['GET', '/a'], ['GET', '/b/'], ['GET', '/c/{x}']);
    expect(find(table, 'GET', '/a/')).toBe('none');
    expect(find(table, 'GET', '/b/')).toBe('1');
    expect(find(table, 'GET', '/b')).toBe('none');
    expect(find(table, 'GET', '/c/')).toBe('none');
    expect(find(table, 'GET', '/c/1/')).toBe('none');
  });

  test('an empty template is the path of the root', () => {
    expect(find(tableOf(['GET', '']), 'GET', '/')).toBe('0');
    expect(find(tableOf(['GET', '/']), 'GET', '/')).toBe('0');
  });

  test.each(['', '.', '..'])('a parameter does not take the segment %j', (segment) => {
    const table = tableOf(['GET', '/a/{x}'], ['GET', '/a/{x}/b']);
    expect(table.find('GET', ['a', segment]).kind).toBe('none');
    expect(table.find('GET', ['a', segment, 'b']).kind).toBe('none');
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'the segment %j is a word like any other',
    (word) => {
      const table = tableOf(['GET', '/a/{x}'], ['GET', '/b']);
      expect(find(table, 'GET', `/a/${word}`)).toBe(`0 ${word}`);
      expect(find(table, 'GET', `/${word}`)).toBe('none');
      expect(find(table, word, '/b')).toBe('GET, HEAD, OPTIONS');
    },
  );

  test('a literal of a template is compared in its decoded form', () => {
    const table = tableOf(['GET', '/caf%C3%A9'], ['GET', '/%7Bid%7D'], ['GET', '/a%2Fb']);
    expect(table.find('GET', ['café'])).toMatchObject({ route: { index: 0 } });
    expect(table.find('GET', ['{id}'])).toMatchObject({ route: { index: 1 } });
    expect(table.find('GET', ['a/b'])).toMatchObject({ route: { index: 2 } });
    expect(table.find('GET', ['a', 'b']).kind).toBe('none');
  });

  test('two routes of the same method and shape are refused, both named', () => {
    const error = refusal(['GET', '/a/{x}/c'], ['POST', '/a/{y}/c'], ['GET', '/a/{z}/c']);
    expect(error.code).toBe('SVC_MODULE_BAD_DESCRIPTOR');
    expect(error.message).toContain("'GET /a/{x}/c' and 'GET /a/{z}/c'");
  });

  test('two literals that decode to the same text are the same route', () => {
    expect(refusal(['GET', '/a'], ['GET', '/%61']).code).toBe('SVC_MODULE_BAD_DESCRIPTOR');
  });

  test.each([
    ['/a/{x}/{x}', 'twice'],
    ['/a{x}', 'brace'],
    ['/{x}b', 'brace'],
    ['/{a}{b}', 'brace'],
    ['/{{x}}', 'brace'],
    ['/a//b', 'empty segment'],
    ['//', 'empty segment'],
    ['/a/../b', 'no request can name'],
    ['/%2e', 'no request can name'],
    ['/%zz', 'no request can name'],
    ['/%ff', 'no request can name'],
    ['/a'.repeat(SEGMENTS_MAX + 1), 'more than'],
  ])('the template %s is refused', (path, word) => {
    const error = refusal(['GET', path]);
    expect(error.code).toBe('SVC_MODULE_BAD_DESCRIPTOR');
    expect(error.message).toContain(word);
  });

  test('a path with more segments than any template is no path', () => {
    const deep = '/a'.repeat(SEGMENTS_MAX);
    const table = tableOf(['GET', deep]);
    expect(find(table, 'GET', deep)).toBe('0');
    expect(find(table, 'GET', `${deep}/a`)).toBe('none');
    expect(find(table, 'GET', '/a'.repeat(8000))).toBe('none');
  });

  test('a search visits a hostile tree once and no more', () => {
    // At each position there is a literal and a parameter: 2^10 paths that all end without a route.
    const routes: RouteSketch[] = [];
    for (let mask = 0; mask < 1024; mask++) {
      let path = '';
      for (let at = 0; at < 10; at++) path += (mask >> at) & 1 ? '/a' : `/{p${at}}`;
      routes.push(['GET', `${path}/end`]);
    }
    const table = tableOf(...routes);
    expect(find(table, 'GET', `${'/a'.repeat(10)}/end`)).toBe('1023');
    expect(find(table, 'GET', `${'/a'.repeat(10)}/nowhere`)).toBe('none');
  });
});

describe('RouteTable against a reference', () => {
  test('generated templates and paths find the route that a look at every route finds', () => {
    const random = sequence(20_261_121);
    let hits = 0;
    for (let round = 0; round < 400; round++) {
      const templates = distinctTemplates(random, 1 + (random() % 25));
      const table = tableOf(...templates.map((path): RouteSketch => ['GET', path]));
      for (let trial = 0; trial < 50; trial++) {
        const length = 1 + (random() % 5);
        let path = '';
        for (let at = 0; at < length; at++) path += `/${WORDS[random() % WORDS.length]}`;
        const expected = reference(templates, path);
        const found = table.find('GET', path.slice(1).split('/'));
        const index = found.kind === 'found' ? found.route.index : -1;
        expect([templates, path, index]).toEqual([templates, path, expected]);
        if (index !== -1) hits += 1;
      }
    }
    expect(hits).toBeGreaterThan(2000);
  });
});

/** Literals sort before parameters. */
function shapeOf(template: string): string {
  return template
    .slice(1)
    .split('/')
    .map((part) => (part[0] === '{' ? '1' : '0'))
    .join('');
}

function distinctTemplates(random: () => number, count: number): string[] {
  const byShape = new Map<string, string>();
  for (let index = 0; index < count; index++) {
    const length = 1 + (random() % 5);
    let template = '';
    for (let at = 0; at < length; at++)
      template += random() % 2 === 0 ? `/{p${at}}` : `/${WORDS[random() % 3]}`;
    if (random() % 8 === 0) template += '/';
    byShape.set(template.replaceAll(/\{[^}]*\}/g, '{}'), template);
  }
  return [...byShape.values()];
}

/** The linear congruential generator of Numerical Recipes: the same numbers in every run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}

/** Searches all routes; the best one has a literal where the others first have a parameter. */
function reference(templates: readonly string[], path: string): number {
  const segments = path.slice(1).split('/');
  const fits = templates.flatMap((template, index) => {
    const parts = template.slice(1).split('/');
    const fit =
      parts.length === segments.length &&
      parts.every((part, at) => (part[0] === '{' ? segments[at] !== '' : part === segments[at]));
    return fit ? [{ index, shape: shapeOf(template) }] : [];
  });
  fits.sort((left, right) => (left.shape < right.shape ? -1 : 1));
  return fits[0]?.index ?? -1;
}
