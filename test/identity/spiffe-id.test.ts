import { array, assert, constantFrom, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSpiffeId, serviceId, serviceOf } from '../../identity/spiffe-id.ts';

const LONGEST = `spiffe://td/${'a'.repeat(2048 - 'spiffe://td/'.length)}`;

describe('an id', () => {
  test.each([
    ['spiffe://td', { trustDomain: 'td', segments: [] }],
    ['spiffe://a.b-c_1/x', { trustDomain: 'a.b-c_1', segments: ['x'] }],
    [
      'spiffe://td/ns/svc-shop/sa/cart',
      { trustDomain: 'td', segments: ['ns', 'svc-shop', 'sa', 'cart'] },
    ],
    ['spiffe://td/A.b/..c/...', { trustDomain: 'td', segments: ['A.b', '..c', '...'] }],
    [LONGEST, { trustDomain: 'td', segments: [LONGEST.slice('spiffe://td/'.length)] }],
  ])('%s', (text, id) => {
    expect(parseSpiffeId(text)).toEqual(id);
  });

  test.each([
    ['nothing', ''],
    ['another scheme', 'https://td/x'],
    ['a scheme in capitals', 'SPIFFE://td/x'],
    ['no trust domain', 'spiffe:///x'],
    ['a trust domain in capitals', 'spiffe://Td/x'],
    ['a trust domain of 256 bytes', `spiffe://${'a'.repeat(256)}`],
    ['a port', 'spiffe://td:1/x'],
    ['a user', 'spiffe://u@td/x'],
    ['a query', 'spiffe://td/x?a'],
    ['a fragment', 'spiffe://td/x#a'],
    ['percent-encoding', 'spiffe://td/%61'],
    ['a slash at the end', 'spiffe://td/'],
    ['a slash at the end of a path', 'spiffe://td/x/'],
    ['an empty segment', 'spiffe://td/x//y'],
    ['a segment of one dot', 'spiffe://td/./x'],
    ['a segment of two dots', 'spiffe://td/x/..'],
    ['a space before it', ' spiffe://td/x'],
    ['a line end', 'spiffe://td/x\n'],
    ['a NUL', 'spiffe://td/x\0'],
    ['a letter beyond ASCII', 'spiffe://td/é'],
    ['2,049 bytes', `${LONGEST}a`],
  ])('is no text with %s', (_name, text) => {
    expect(parseSpiffeId(text)).toBeUndefined();
  });

  test('has one spelling: its parts joined are its text', () => {
    const parts = constantFrom('spiffe://', 'td', '/', 'ns', '..', '%', ':', 'A', 'é', '?', '-');
    assert(
      property(array(parts, { maxLength: 12 }), (some) => {
        const text = some.join('');
        const id = parseSpiffeId(text);
        return id === undefined || ['spiffe:/', id.trustDomain, ...id.segments].join('/') === text;
      }),
    );
    expect(parseSpiffeId('spiffe://td')).toBeDefined();
  });
});

describe('a service', () => {
  test('is named by namespace and service account', () => {
    const text = serviceId('td', { project: 'shop', service: 'cart' });
    expect(text).toBe('spiffe://td/ns/svc-shop/sa/cart');
    expect(serviceOf(parseSpiffeId(text)!)).toEqual({ project: 'shop', service: 'cart' });
  });

  test.each([
    'spiffe://td',
    'spiffe://td/ns/svc-shop/sa',
    'spiffe://td/ns/svc-shop/sa/cart/extra',
    'spiffe://td/extra/ns/svc-shop/sa/cart',
    'spiffe://td/ns/shop/sa/cart',
    'spiffe://td/ns/svc-/sa/cart',
    'spiffe://td/ns/SVC-shop/sa/cart',
    'spiffe://td/ns/svc-shop/sb/cart',
    'spiffe://td/NS/svc-shop/sa/cart',
    'spiffe://td/ns/svc-shop/sa/Cart',
    'spiffe://td/ns/svc-shop/sa/cart.x',
    'spiffe://td/ns/svc-shop.x/sa/cart',
    'spiffe://td/ns/svc-shop/sa/-cart',
    'spiffe://td/ns/svc-shop/sa/1cart',
    `spiffe://td/ns/svc-${'p'.repeat(60)}/sa/cart`,
    `spiffe://td/ns/svc-shop/sa/${'c'.repeat(64)}`,
  ])('is not named by %s', (text) => {
    expect(serviceOf(parseSpiffeId(text)!)).toBeUndefined();
  });

  test.each([
    ['td', { project: 'shop', service: 'a/b' }],
    ['td', { project: '', service: 'cart' }],
    ['TD', { project: 'shop', service: 'cart' }],
  ])('that is no name gets no id: %s %o', (trustDomain, name) => {
    expect(() => serviceId(trustDomain, name)).toThrow(TypeError);
  });
});
