// Certificates: the three PEM texts by which a program proves who it is and verifies others. Invariants: the key belongs to
// the leaf, every certificate of every text has been parsed, the authorities are certificate authorities, and the
// leaf names one SPIFFE ID and was valid when it was checked.
import { constants, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { spiffeIdOf } from './caller.ts';
import { parseSpiffeId } from './spiffe-id.ts';

/** The texts of the files. A value that threads can pass on. */
export interface CertificateTexts {
  /** `tls.crt`: the leaf, and the intermediate certificates after it. */
  readonly certificate: string;
  /** `tls.key` */
  readonly key: string;
  /** `ca.crt`: the authorities that are trusted. */
  readonly authorities: string;
}

export interface Certificates {
  readonly texts: CertificateTexts;
  readonly leaf: X509Certificate;
  /** SPIFFE ID that the leaf names. */
  readonly id: string;
  readonly authorities: readonly X509Certificate[];
  readonly context: SecureContext;
}

/** Texts that cannot be used: a sentence for the operator, without their content. */
export interface UnusableCertificates {
  readonly problem: string;
}

const BLOCK = /-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]+?-----END CERTIFICATE-----/g;
const BEGIN = /-----BEGIN /g;

/**
 * Parses the texts, and checks that they belong together and that the leaf is valid at `nowMs`; undefined: its validity
 * does not matter, because the texts were checked before. `ownId`: SPIFFE ID that the leaf has to name; absent: any.
 */
export function parseCertificates(
  texts: CertificateTexts,
  nowMs: number | undefined,
  ownId?: string,
): Certificates | UnusableCertificates {
  const chain = certificatesOf(texts.certificate);
  const authorities = certificatesOf(texts.authorities);
  const key = privateKeyOf(texts.key);
  if (chain === undefined)
    return { problem: 'tls.crt has no certificate, or one that is unreadable.' };
  if (authorities === undefined)
    return { problem: 'ca.crt has no certificate, or one that is unreadable.' };
  if (key === undefined) return { problem: 'tls.key has no private key that is readable.' };
  const leaf = chain[0]!;
  const problem =
    keyProblem(leaf, key) ?? validityProblem(leaf, nowMs) ?? authoritiesProblem(authorities);
  if (problem !== undefined) return { problem };
  const id = spiffeIdOf(leaf);
  if (typeof id !== 'string')
    return { problem: `The certificate of tls.crt names no service. ${id.reason}` };
  if (parseSpiffeId(id) === undefined)
    return { problem: 'The certificate of tls.crt names a URI that is not a SPIFFE ID.' };
  if (ownId !== undefined && id !== ownId)
    return { problem: `The certificate of tls.crt names ${id}, and has to name ${ownId}.` };
  const context = contextOf(texts);
  if (context === undefined) return { problem: 'OpenSSL does not accept tls.crt with tls.key.' };
  return { texts, leaf, id, authorities, context };
}

/** Options of a context that uses the texts, on both sides of a connection. */
export function contextOptions({
  certificate,
  key,
  authorities,
}: CertificateTexts): SecureContextOptions {
  return {
    cert: certificate,
    key,
    ca: authorities,
    minVersion: 'TLSv1.3',
    // A resumed session would not verify the peer again: without tickets every handshake is a full one.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** Certificate and key of a server that does not ask its clients for theirs. */
export interface ServerPair {
  readonly leaf: X509Certificate;
  readonly options: SecureContextOptions;
}

/** Parses the certificate and the key of a server. `nowMs`: time at which the leaf has to be valid. */
export function parseServerPair(
  texts: Pick<CertificateTexts, 'certificate' | 'key'>,
  nowMs: number,
): ServerPair | UnusableCertificates {
  const leaf = certificatesOf(texts.certificate)?.[0];
  const key = privateKeyOf(texts.key);
  if (leaf === undefined)
    return { problem: 'The certificate is missing in its file, or unreadable.' };
  if (key === undefined)
    return { problem: 'The private key is missing in its file, or unreadable.' };
  if (!leaf.checkPrivateKey(key))
    return { problem: 'The private key does not belong to the certificate.' };
  const { validFromDate: from, validToDate: to } = leaf;
  if (nowMs < from.getTime())
    return { problem: `The certificate is valid only from ${from.toISOString()} on.` };
  if (nowMs >= to.getTime()) return { problem: `The certificate expired at ${to.toISOString()}.` };
  const options = { cert: texts.certificate, key: texts.key, minVersion: 'TLSv1.2' } as const;
  try {
    createSecureContext(options);
  } catch {
    return { problem: 'OpenSSL does not accept the certificate with the private key.' };
  }
  return { leaf, options };
}

function keyProblem(leaf: X509Certificate, key: KeyObject): string | undefined {
  return leaf.checkPrivateKey(key)
    ? undefined
    : 'The key of tls.key does not belong to the certificate of tls.crt.';
}

function validityProblem(leaf: X509Certificate, nowMs: number | undefined): string | undefined {
  if (nowMs === undefined) return undefined;
  const { validFromDate: from, validToDate: to } = leaf;
  if (nowMs < from.getTime())
    return `The certificate of tls.crt is valid only from ${from.toISOString()} on.`;
  if (nowMs >= to.getTime()) return `The certificate of tls.crt expired at ${to.toISOString()}.`;
  return undefined;
}

function authoritiesProblem(authorities: readonly X509Certificate[]): string | undefined {
  return authorities.every(({ ca }) => ca)
    ? undefined
    : 'ca.crt has a certificate that is not of a certificate authority.';
}

/** Returns the certificates of a PEM text; undefined if there is none, or one that cannot be parsed. OpenSSL would skip the latter. */
export function certificatesOf(text: string): readonly X509Certificate[] | undefined {
  const blocks = text.match(BLOCK) ?? [];
  if (blocks.length === 0 || blocks.length !== text.match(BEGIN)?.length) return undefined;
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}

function privateKeyOf(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text);
  } catch {
    return undefined;
  }
}

function contextOf(texts: CertificateTexts): SecureContext | undefined {
  try {
    return createSecureContext(contextOptions(texts));
  } catch {
    return undefined;
  }
}
