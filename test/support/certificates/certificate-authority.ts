// CertificateAuthority issues certificates for tests: good ones, and every kind of bad one. Keys are P-256.
import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonGeneralName,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { KeyObject, type webcrypto } from 'node:crypto';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;
let serial = 0;

/** Contents of a certificate. */
export interface CertificateContents {
  readonly uris?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly addresses?: readonly string[];
  /** Distinguished name. Default: `CN=leaf`. */
  readonly subject?: string;
  /** True: the certificate is one of a certificate authority. */
  readonly isAuthority?: boolean;
  /** Default: an hour ago. */
  readonly from?: Date;
  /** Default: in a day. */
  readonly to?: Date;
}

/** A certificate and its key as PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

export class CertificateAuthority {
  /** The certificate of the authority as PEM. */
  readonly certificate: string;
  readonly #name: string;
  readonly #keys: webcrypto.CryptoKeyPair;

  private constructor(name: string, keys: webcrypto.CryptoKeyPair, certificate: string) {
    this.#name = name;
    this.#keys = keys;
    this.certificate = certificate;
  }

  static async create(name: string): Promise<CertificateAuthority> {
    const keys = await newKeys();
    const certificate = await signed(`CN=${name}`, keys, `CN=${name}`, keys, { isAuthority: true });
    return new CertificateAuthority(name, keys, certificate);
  }

  async issue(contents: CertificateContents): Promise<IssuedCertificate> {
    const keys = await newKeys();
    const { subject = 'CN=leaf' } = contents;
    const certificate = await signed(subject, keys, `CN=${this.#name}`, this.#keys, contents);
    return { certificate, key: keyText(keys.privateKey) };
  }

  /** Issues the certificate of an authority below this one. Certificates that it issues follow with its own. */
  async intermediate(name: string): Promise<CertificateAuthority> {
    const keys = await newKeys();
    const contents = { isAuthority: true };
    const certificate = await signed(`CN=${name}`, keys, `CN=${this.#name}`, this.#keys, contents);
    return new CertificateAuthority(name, keys, certificate);
  }
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function keyText(key: CryptoKey): string {
  return KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' });
}

async function signed(
  subject: string,
  keys: webcrypto.CryptoKeyPair,
  issuer: string,
  issuerKeys: webcrypto.CryptoKeyPair,
  { uris = [], dnsNames = [], addresses = [], isAuthority = false, from, to }: CertificateContents,
): Promise<string> {
  const names: JsonGeneralName[] = [
    ...uris.map((value) => ({ type: 'url' as const, value })),
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...addresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  const created = await X509CertificateGenerator.create({
    serialNumber: (++serial).toString(16).padStart(8, '0'),
    subject,
    issuer,
    notBefore: from ?? new Date(Date.now() - HOUR_MS),
    notAfter: to ?? new Date(Date.now() + 24 * HOUR_MS),
    signingKey: issuerKeys.privateKey,
    publicKey: keys.publicKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(isAuthority, undefined, true),
      ...(isAuthority
        ? []
        : [
            new ExtendedKeyUsageExtension([
              ExtendedKeyUsage.clientAuth,
              ExtendedKeyUsage.serverAuth,
            ]),
          ]),
      ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)]),
    ],
  });
  return `${created.toString('pem')}\n`;
}
