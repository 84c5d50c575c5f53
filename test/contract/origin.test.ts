// Checks of origins: the form that browsers send, and the messages for other forms.
import { describe, expect, test } from 'vitest';
import { originProblem } from '../../contract/origin.ts';

describe('an origin', () => {
  test.each([
    'https://shop.example.com',
    'http://localhost:5173',
    'http://127.0.0.1:8080',
    'http://[::1]:3000',
    'https://*.example.com',
    'https://*.example.com:8443',
    'http://*.localhost:3000',
    'https://xn--mnchen-3ya.example',
    'capacitor://localhost',
  ])('can be %s', (text) => {
    expect(originProblem(text)).toBeUndefined();
  });

  test.each([
    ['https://shop.example.com/', 'write https://shop.example.com'],
    ['https://shop.example.com/cart?x=1', 'write https://shop.example.com'],
    ['https://shop.example.com:443', 'write https://shop.example.com'],
    ['http://shop.example.com:80', 'write http://shop.example.com'],
    ['http://localhost:05173', 'write http://localhost:5173'],
    ['https://user@shop.example.com', 'write https://shop.example.com'],
    ['https://Shop.example.com', 'write https://shop.example.com'],
    ['https://münchen.example', 'write https://xn--mnchen-3ya.example'],
    ['https://*.example.com:443', 'write https://*.example.com'],
    ['http://127.1', 'write http://127.0.0.1'],
  ])('is not %s: %s', (text, todo) => {
    expect(originProblem(text)).toBe(`is not an origin as browsers send it: ${todo}`);
  });

  test.each([
    '',
    '*',
    'null',
    'shop.example.com',
    '//shop.example.com',
    'https://',
    'https://a b',
    'https://*',
    'https://shop.*.com',
    'https://*shop.example.com',
    'https://**.example.com',
    'https://a.example.com,https://b.example.com',
    'https://a.example.com\r\nx: y',
    'http://localhost:99999',
    `https://${'a'.repeat(300)}.example.com`,
  ])('is not %j', (text) => {
    expect(originProblem(text)).toMatch(/^is not an origin: write it as https:/);
  });

  test.each(['https://*.com', 'https://*.com:8443'])(
    'is not a whole top-level domain: %s',
    (text) => {
      expect(originProblem(text)).toMatch(/^has a wildcard over a whole top-level domain/);
    },
  );
});
