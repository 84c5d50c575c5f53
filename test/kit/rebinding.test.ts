// Rebinding: which requests the observability endpoint accepts as those of a program on this machine.
import { describe, expect, test } from 'vitest';
import { foreignRequest } from '../../kit/rebinding.ts';

const PORT = 4711;
const HOST = '127.0.0.1:4711';

describe('a request is answered', () => {
  test.each([
    [{ host: HOST }],
    [{ host: 'localhost:4711' }],
    [{ host: 'LocalHost:4711' }],
    [{ host: '[::1]:4711' }],
    [{ host: HOST, origin: 'http://127.0.0.1:4711' }],
    [{ host: HOST, 'sec-fetch-site': 'same-origin' }],
    // A person has typed the address.
    [{ host: HOST, 'sec-fetch-site': 'none' }],
  ])('with %j', (headers) => {
    expect(foreignRequest(headers, PORT)).toBeUndefined();
  });
});

describe('a foreign Host is refused', () => {
  test.each([
    ['rebinding.example'],
    ['rebinding.example:4711'],
    ['127.0.0.1'],
    ['127.0.0.1:4712'],
    ['127.0.0.1:4711.rebinding.example'],
    ['127.0.0.1.rebinding.example:4711'],
    ['127.0.0.2:4711'],
    ['0.0.0.0:4711'],
    [''],
    [undefined],
  ])('%j', (host) => {
    expect(foreignRequest({ host }, PORT)).toContain('another host');
  });
});

describe('a foreign page is refused', () => {
  test.each([
    [{ origin: 'http://rebinding.example' }],
    [{ origin: 'https://127.0.0.1:4711' }],
    [{ origin: 'http://127.0.0.1:9889' }],
    [{ origin: 'null' }],
    [{ origin: '127.0.0.1:4711' }],
    [{ origin: '' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'none, cross-site' }],
  ])('%j', (headers) => {
    expect(foreignRequest({ host: HOST, ...headers }, PORT)).toContain('of other');
  });
});
