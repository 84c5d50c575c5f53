// The cases of P30: certificates that real tools can issue, and the text that Node makes of their names.
import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { callerOf, type CallerRules, recognise } from '../../identity/caller.ts';
import { parseSubjectAltNames } from '../../identity/subject-alt-names.ts';
import {
  CertificateAuthority,
  type CertificateContents,
} from '../support/certificates/certificate-authority.ts';

const GATEWAY = 'spiffe://td/ns/svc-platform/sa/gateway';
const CART = 'spiffe://td/ns/svc-shop/sa/cart';
const RULES: CallerRules = { trustDomain: 'td', gatewayId: GATEWAY };
const ca = await CertificateAuthority.create('ca');

async function certificateOf(contents: CertificateContents): Promise<X509Certificate> {
  return new X509Certificate((await ca.issue(contents)).certificate);
}

describe('a caller', () => {
  test.each<[string, CertificateContents, object]>([
    ['the gateway is the internet', { uris: [GATEWAY] }, { kind: 'internet' }],
    ['a service', { uris: [CART] }, { kind: 'service', project: 'shop', service: 'cart' }],
    [
      'a service with other names beside its URI',
      { uris: [CART], dnsNames: ['cart.svc-shop', GATEWAY] },
      { kind: 'service', project: 'shop', service: 'cart' },
    ],
  ])('%s', async (_name, contents, caller) => {
    expect(callerOf(await certificateOf(contents), RULES)).toEqual(caller);
  });

  test.each<[string, CertificateContents, RegExp]>([
    ['no name', {}, /no URI/],
    ['no URI', { dnsNames: ['cart.svc-shop.svc.cluster.local'] }, /no URI/],
    ["the gateway's id as a DNS name", { dnsNames: [GATEWAY] }, /no URI/],
    ['two URIs', { uris: [CART, GATEWAY] }, /several/],
    ['the same URI twice', { uris: [CART, CART] }, /several/],
    ['a second URI that is empty', { uris: [CART, ''] }, /several/],
    ['an empty URI', { uris: [''] }, /not a SPIFFE ID/],
    ['an extra segment', { uris: [`${CART}/extra`] }, /neither/],
    ["an extra segment after the gateway's", { uris: [`${GATEWAY}/`] }, /not a SPIFFE ID/],
    ['percent-encoding', { uris: ['spiffe://td/ns/svc-shop/sa/c%61rt'] }, /not a SPIFFE ID/],
    ['another trust domain', { uris: ['spiffe://td2/ns/svc-shop/sa/cart'] }, /trust domain/],
    ['a trust domain in capitals', { uris: ['spiffe://TD/ns/svc-shop/sa/cart'] }, /not a SPIFFE/],
    ['a URI with a comma and another inside', { uris: [`spiffe://td/x, URI:${GATEWAY}`] }, /not a/],
    ['a DNS name with a URI inside', { dnsNames: [`a, URI:${GATEWAY}`] }, /no URI/],
    ['a URI with a quote', { uris: [`${CART}", URI:"${GATEWAY}`] }, /not a/],
    ['a URI with a NUL', { uris: [`${CART}\0.example`] }, /not a/],
    ['a URI with a line end', { uris: [`${CART}\n`] }, /not a/],
    ['a URI of a web site', { uris: ['https://td/ns/svc-shop/sa/cart'] }, /not a/],
    ['2,049 bytes', { uris: [`spiffe://td/${'a'.repeat(2037)}`] }, /2048 bytes/],
    ['the mark of a certificate authority', { uris: [CART], isAuthority: true }, /authority/],
  ])('is not named by a certificate with %s', async (_name, contents, reason) => {
    const certificate = await certificateOf(contents);
    expect(callerOf(certificate, RULES)).toBeUndefined();
    expect(recognise(certificate, RULES)).toEqual({
      kind: 'unrecognised',
      reason: expect.stringMatching(reason),
    });
  });

  test('is not named by text of another form than that of Node', () => {
    const certificate = { ca: false, subjectAltName: `URI:${CART},URI:${GATEWAY}` };
    expect(callerOf(certificate, RULES)).toBeUndefined();
  });
});

describe('the text of subject alternative names', () => {
  test.each([
    [undefined, []],
    ['', []],
    ['URI:', [['URI', '']]],
    [
      'DNS:a, URI:spiffe://td/x',
      [
        ['DNS', 'a'],
        ['URI', 'spiffe://td/x'],
      ],
    ],
    ['IP Address:0:0:0:0:0:0:0:1', [['IP Address', '0:0:0:0:0:0:0:1']]],
    [
      'othername:<unsupported>, Registered ID:1.2.3',
      [
        ['othername', '<unsupported>'],
        ['Registered ID', '1.2.3'],
      ],
    ],
    ['DirName:CN=URI:spiffe://td/x', [['DirName', 'CN=URI:spiffe://td/x']]],
    [
      String.raw`URI:"a\u002c URI:b", DNS:c`,
      [
        ['URI', 'a, URI:b'],
        ['DNS', 'c'],
      ],
    ],
    [
      String.raw`DNS:"x\"y\\", URI:z`,
      [
        ['DNS', 'x"y\\'],
        ['URI', 'z'],
      ],
    ],
  ])('%s', (text, names) => {
    expect(parseSubjectAltNames(text)).toEqual(names.map(([label, value]) => ({ label, value })));
  });

  test.each([
    'URI',
    ':x',
    'URI:x,',
    'URI:x, ',
    'URI:x,DNS:y',
    'URI:"x',
    'URI:"x"y',
    String.raw`URI:"\x"`,
    'URI:x"y"',
    'URI:x\\y',
    ', URI:x',
    'UR"I:x',
  ])('%s has not the form', (text) => {
    expect(parseSubjectAltNames(text)).toBeUndefined();
  });
});
