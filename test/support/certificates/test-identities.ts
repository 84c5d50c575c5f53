// TestIdentities: an installation with a gateway and services, whose certificates one authority issues.
import { CertificateGenerations } from '../../../identity/certificate-generations.ts';
import { type CertificateTexts, parseCertificates } from '../../../identity/certificates.ts';
import { CertificateAuthority } from './certificate-authority.ts';
import { certificateTexts } from './certificate-files.ts';

export const GATEWAY = 'spiffe://td/ns/svc-platform/sa/gateway';
export const CART = 'spiffe://td/ns/svc-shop/sa/cart';
export const ORDERS = 'spiffe://td/ns/svc-shop/sa/orders';
export const RULES = { trustDomain: 'td', gatewayId: GATEWAY };
export const ca = await CertificateAuthority.create('ca');
export const otherCa = await CertificateAuthority.create('other');

export async function textsOf(
  id: string,
  issuer = ca,
  trusted: readonly CertificateAuthority[] = [issuer],
): Promise<CertificateTexts> {
  return certificateTexts(await issuer.issue({ uris: [id] }), ...trusted);
}

export function generationsOf(texts: CertificateTexts): CertificateGenerations {
  const parsed = parseCertificates(texts, Date.now());
  if ('problem' in parsed) throw new Error(parsed.problem);
  return new CertificateGenerations(parsed);
}
