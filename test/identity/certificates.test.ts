import { describe, expect, test } from 'vitest';
import {
  type CertificateGeneration,
  CertificateGenerations,
} from '../../identity/certificate-generations.ts';
import {
  type Certificates,
  type CertificateTexts,
  parseCertificates,
} from '../../identity/certificates.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { certificateTexts } from '../support/certificates/certificate-files.ts';

const CART = 'spiffe://td/ns/svc-shop/sa/cart';
const HOUR_MS = 3_600_000;
const nowMs = Date.now();
const ca = await CertificateAuthority.create('ca');
const otherCa = await CertificateAuthority.create('other');
const leaf = await ca.issue({ uris: [CART] });
const otherLeaf = await ca.issue({ uris: [CART] });
const expired = await ca.issue({ uris: [CART], to: new Date(nowMs - 1000) });
const early = await ca.issue({ uris: [CART], from: new Date(nowMs + HOUR_MS) });
const nameless = await ca.issue({ dnsNames: ['cart'] });
const site = await ca.issue({ uris: ['https://cart'] });
const texts = certificateTexts(leaf, ca);
const cut = (text: string) => text.slice(0, text.length / 2);

describe('a set of certificates', () => {
  test('that belong together has the leaf, its id and the authorities', () => {
    const parsed = parseCertificates(certificateTexts(leaf, ca, otherCa), nowMs) as Certificates;
    expect(parsed.id).toBe(CART);
    expect(parsed.leaf.toString()).toBe(leaf.certificate);
    expect(parsed.authorities).toHaveLength(2);
  });

  test('may have intermediate certificates, comments and other line ends', async () => {
    const intermediate = await ca.intermediate('intermediate');
    const issued = await intermediate.issue({ uris: [CART] });
    const certificate = `# leaf\n${issued.certificate}${intermediate.certificate}`;
    const parsed = parseCertificates({ ...texts, ...issued, certificate }, nowMs);
    expect(parsed).toMatchObject({ id: CART });
    const windows = certificate.replaceAll('\n', '\r\n');
    expect(parseCertificates({ ...texts, ...issued, certificate: windows }, nowMs)).toMatchObject({
      id: CART,
    });
  });

  test.each<[string, Partial<CertificateTexts>, RegExp]>([
    ['no certificate', { certificate: '' }, /tls\.crt has no/],
    ['a certificate that is cut off', { certificate: cut(leaf.certificate) }, /tls\.crt has no/],
    [
      'a damaged certificate',
      { certificate: leaf.certificate.replace('MII', 'AAA') },
      /tls\.crt has/,
    ],
    [
      'a second certificate that is cut off',
      { certificate: leaf.certificate + cut(ca.certificate) },
      /tls\.crt has no/,
    ],
    ['no key', { key: '' }, /tls\.key has no/],
    ['a key that is cut off', { key: cut(leaf.key) }, /tls\.key has no/],
    ['the key of another certificate', { key: otherLeaf.key }, /does not belong/],
    ['no authority', { authorities: '\n' }, /ca\.crt has no/],
    [
      'a second authority that is cut off',
      { authorities: ca.certificate + cut(otherCa.certificate) },
      /ca\.crt has no/,
    ],
    ['a leaf as authority', { authorities: leaf.certificate }, /not of a certificate authority/],
    ['an expired certificate', expired, /expired at 20/],
    ['a certificate that is not valid yet', early, /valid only from 20/],
    ['a certificate without an id', nameless, /names no service\. It names no URI\./],
    ['a certificate of a site', site, /not a SPIFFE ID/],
  ])('with %s cannot be used', (_name, part, problem) => {
    expect(parseCertificates({ ...texts, ...part }, nowMs)).toEqual({
      problem: expect.stringMatching(problem),
    });
  });

  test('has to name the service that it is for', () => {
    expect(parseCertificates(texts, nowMs, CART)).toMatchObject({ id: CART });
    expect(parseCertificates(texts, nowMs, `${CART}2`)).toEqual({
      problem: `The certificate of tls.crt names ${CART}, and has to name ${CART}2.`,
    });
  });
});

function begin() {
  const generations = new CertificateGenerations(parseCertificates(texts, nowMs) as Certificates);
  const begun: CertificateGeneration[] = [];
  generations.onGeneration((generation) => begun.push(generation));
  return { generations, begun };
}

describe('generations', () => {
  test('begin with another leaf and with other authorities, and say what has changed', () => {
    const { generations, begun } = begin();
    expect(generations.current).toMatchObject({ number: 1, authorityRemovedIn: 0 });
    expect(generations.offer(texts, nowMs)).toBeUndefined();
    expect(generations.offer(certificateTexts(otherLeaf, ca), nowMs)).toBeUndefined();
    expect(generations.offer(certificateTexts(otherLeaf, ca, otherCa), nowMs)).toBeUndefined();
    expect(generations.offer(certificateTexts(otherLeaf, otherCa), nowMs)).toBeUndefined();
    expect(generations.offer(certificateTexts(leaf, otherCa), nowMs)).toBeUndefined();
    const removed = { authoritiesAdded: 0, authoritiesRemoved: 1, authorityRemovedIn: 4 };
    expect(begun).toMatchObject([
      { number: 2, isLeafNew: true, authoritiesAdded: 0, authoritiesRemoved: 0 },
      { number: 3, isLeafNew: false, authoritiesAdded: 1, authorityRemovedIn: 0 },
      { number: 4, isLeafNew: false, ...removed },
      { number: 5, isLeafNew: true, authoritiesRemoved: 0, authorityRemovedIn: 4 },
    ]);
  });

  test('do not begin with what cannot be used', () => {
    const { generations, begun } = begin();
    const unusable = generations.offer({ ...texts, key: otherLeaf.key }, nowMs);
    expect(unusable?.problem).toMatch(/does not belong/);
    expect(generations.current.certificates.texts).toEqual(texts);
    expect(begun).toEqual([]);
  });
});
