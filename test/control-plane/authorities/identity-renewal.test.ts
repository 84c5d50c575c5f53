// An identity is replaced when it has to be, and never otherwise.
import { X509Certificate } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { IssuedPair } from '../../../control-plane/authorities/certificate-issuer.ts';
import type { GivenAuthority } from '../../../control-plane/authorities/given-authority.ts';
import { IdentityRenewal } from '../../../control-plane/authorities/identity-renewal.ts';
import type { CertificateTexts } from '../../../identity/certificates.ts';
import {
  DAY_MS,
  GivenFolder,
  madeAuthority,
  SETTLE_MS,
} from '../../support/certificates/given-folder.ts';

const CART = 'spiffe://example.org/ns/svc-shop/sa/cart';
const ORDERS = 'spiffe://example.org/ns/svc-shop/sa/orders';

let folder: GivenFolder;
let pair: IssuedPair;
let authority: GivenAuthority;
let renewal: IdentityRenewal;

beforeEach(async () => {
  folder = new GivenFolder();
  await use(await madeAuthority());
});

async function use(made: IssuedPair): Promise<void> {
  pair = made;
  folder.write(pair);
  authority = await folder.open();
  renewal = new IdentityRenewal({ authority, lifetimeMs: DAY_MS, clock: folder.clock });
  // Times are not those of the authority's beginning.
  folder.nowMs += SETTLE_MS;
}

const leafOf = ({ certificate }: CertificateTexts) => new X509Certificate(certificate);

describe('an identity', () => {
  test('is issued for a day to whoever has none, and is due after half of it', async () => {
    const { texts, isChanged, renewAtMs } = await renewal.renewed(undefined, CART);
    expect(isChanged).toBe(true);
    expect(leafOf(texts).subjectAltName).toBe(`URI:${CART}`);
    expect(leafOf(texts).validToDate.getTime()).toBe(folder.nowMs + DAY_MS);
    expect(texts.authorities).toBe(pair.certificate);
    expect(renewAtMs).toBe(folder.nowMs + DAY_MS / 2);
  });

  test('is the same until it is due, and another one from then on', async () => {
    const first = await renewal.renewed(undefined, CART);
    folder.nowMs = first.renewAtMs - 1;
    expect(await renewal.renewed(first.texts, CART)).toEqual({ ...first, isChanged: false });
    folder.nowMs = first.renewAtMs;
    const second = await renewal.renewed(first.texts, CART);
    expect(second.isChanged).toBe(true);
    expect(second.texts.key).not.toBe(first.texts.key);
    expect(second.renewAtMs).toBe(folder.nowMs + DAY_MS / 2);
  });

  test('is the same for another process', async () => {
    const { texts } = await renewal.renewed(undefined, CART);
    const other = new IdentityRenewal({ authority, lifetimeMs: DAY_MS, clock: folder.clock });
    expect(await other.renewed(texts, CART)).toMatchObject({ texts, isChanged: false });
  });

  test.each<[string, (texts: CertificateTexts) => CertificateTexts | Promise<CertificateTexts>]>([
    ['is of another service', async () => (await renewal.renewed(undefined, ORDERS)).texts],
    ['has expired', (texts) => ((folder.nowMs += 2 * DAY_MS), texts)],
    ['was made by a clock that was ahead', (texts) => ((folder.nowMs -= 3 * DAY_MS), texts)],
    [
      'has the key of another one',
      async (texts) => ({ ...texts, key: (await renewal.issue(CART)).key }),
    ],
    ['is garbage', () => ({ certificate: 'a', key: 'b', authorities: 'c' })],
    ['is empty', () => ({ certificate: '', key: '', authorities: '' })],
    ['trusts garbage', (texts) => ({ ...texts, authorities: 'garbage' })],
  ])('that %s is replaced, once', async (_, change) => {
    const present = await change((await renewal.renewed(undefined, CART)).texts);
    const { texts, isChanged } = await renewal.renewed(present, CART);
    expect(isChanged).toBe(true);
    expect(texts.certificate).not.toBe(present.certificate);
    expect(leafOf(texts).subjectAltName).toBe(`URI:${CART}`);
    expect(await renewal.renewed(texts, CART)).toMatchObject({ texts, isChanged: false });
  });

  test('lasts as long as its authority if that ends sooner, and is not replaced in vain', async () => {
    await use(await madeAuthority(DAY_MS / 4));
    const { texts, renewAtMs } = await renewal.renewed(undefined, CART);
    expect(renewAtMs).toBe(authority.endsAtMs);
    folder.nowMs = authority.endsAtMs - 1;
    expect(await renewal.renewed(texts, CART)).toMatchObject({ isChanged: false });
    const next = await madeAuthority();
    folder.write(next, [pair]);
    folder.nowMs -= 1000;
    await authority.refresh();
    expect((await renewal.renewed(texts, CART)).texts.certificate).not.toBe(texts.certificate);
  });
});

describe('another authority', () => {
  test('is trusted first, and issues the identity later', async () => {
    const { texts: first } = await renewal.renewed(undefined, CART);
    const next = await madeAuthority();
    folder.write(next, [pair]);
    await authority.refresh();
    const trusting = await renewal.renewed(first, CART);
    const both = `${pair.certificate}${next.certificate}`;
    expect(trusting).toMatchObject({ texts: { ...first, authorities: both }, isChanged: true });
    expect(trusting.renewAtMs).toBe(folder.nowMs + SETTLE_MS);
    folder.nowMs = trusting.renewAtMs;
    const { texts } = await renewal.renewed(trusting.texts, CART);
    expect(leafOf(texts).verify(new X509Certificate(next.certificate).publicKey)).toBe(true);
    expect(texts.authorities).toBe(both);
  });

  test('that is trusted alone issues the identity at once', async () => {
    const { texts: first } = await renewal.renewed(undefined, CART);
    const next = await madeAuthority();
    folder.write(next);
    await authority.refresh();
    const { texts } = await renewal.renewed(first, CART);
    expect(texts.authorities).toBe(next.certificate);
    expect(leafOf(texts).verify(new X509Certificate(next.certificate).publicKey)).toBe(true);
  });
});
