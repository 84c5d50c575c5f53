// CertificateIssuer makes certificates and their keys: those of authorities, and the leafs that they sign. All keys that it makes are
// P-256; an authority that was made elsewhere may have another kind of key. It knows no files and no clock.
import { createPrivateKey, KeyObject, randomBytes, type webcrypto } from 'node:crypto';
import type { Extension, JsonGeneralName, X509Certificate } from '@peculiar/x509';

/** A certificate with its private key, in PEM. */
export interface IssuedPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Validity {
  /** Milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface AuthorityContents {
  /** Common name, by which people and chains of certificates tell authorities apart. */
  readonly name: string;
  /**
   * The only domain for whose hostnames the authority can issue certificates, and those of servers alone; undefined: the authority is
   * not limited, because no browser trusts it.
   */
  readonly permittedDomain: string | undefined;
  readonly validity: Validity;
}

export interface LeafContents {
  /** The one SPIFFE ID of a program, or the hostnames of a server. */
  readonly names: { readonly uri: string } | { readonly hostnames: readonly string[] };
  readonly validity: Validity;
}

type Library = typeof import('@peculiar/x509');

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
/** Curves by the names that OpenSSL has for them, with a hash of their strength. */
const CURVES: Readonly<Record<string, { readonly namedCurve: string; readonly hash: string }>> = {
  prime256v1: { namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { namedCurve: 'P-521', hash: 'SHA-512' },
};
const SERIAL_BYTES = 16;
const NAME_CONSTRAINTS = '2.5.29.30';
/** Every IP address, which a permitted domain alone would not rule out. */
const ALL_ADDRESSES = ['0.0.0.0/0', '::/0'];

let loading: Promise<Library> | undefined;

/** Loads @peculiar/x509 with the first certificate: it takes 20 MB, and nothing but issuing needs it. */
function library(): Promise<Library> {
  loading ??= (async () => {
    await import('reflect-metadata');
    return await import('@peculiar/x509');
  })();
  return loading;
}

export async function newAuthority({
  name,
  permittedDomain,
  validity,
}: AuthorityContents): Promise<IssuedPair> {
  const x509 = await library();
  const keys = await newKeys();
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags;
  const extensions: Extension[] = [
    // No authority can be below this one.
    new x509.BasicConstraintsExtension(true, 0, true),
    new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
  ];
  if (permittedDomain !== undefined)
    extensions.push(
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.Extension(NAME_CONSTRAINTS, true, await nameConstraints(permittedDomain)),
    );
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: `CN=${name}`,
    ...dates(validity),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions,
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: keyText(keys.privateKey) };
}

/** Returns whether certificates can be signed with a key: RSA, or an elliptic curve of NIST. */
export function canSign(key: KeyObject): boolean {
  return signingAlgorithm(key) !== undefined;
}

/** Issues a certificate with a new key. The authority's certificate and key belong together, and the key is one that can sign. */
export async function issueLeaf(
  authority: IssuedPair,
  { names, validity }: LeafContents,
): Promise<IssuedPair> {
  const x509 = await library();
  const issuer = new x509.X509Certificate(authority.certificate);
  const keys = await newKeys();
  const authorityKey = createPrivateKey(authority.key);
  const algorithm = signingAlgorithm(authorityKey)!;
  const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
  const isProgram = 'uri' in names;
  const subjects: JsonGeneralName[] = isProgram
    ? [{ type: 'url', value: names.uri }]
    : names.hostnames.map((value) => ({ type: 'dns', value }));
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    issuer: issuer.subjectName,
    ...dates(validity),
    signingKey: authorityKey.toCryptoKey(algorithm, false, ['sign']),
    publicKey: keys.publicKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(isProgram ? [serverAuth, clientAuth] : [serverAuth]),
      await keyIdentifierOf(issuer),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      // Without a subject the names have to be critical.
      new x509.SubjectAlternativeNameExtension(subjects, true),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: keyText(keys.privateKey) };
}

/** Returns how a key signs; undefined: it cannot sign certificates that everybody verifies. */
function signingAlgorithm({
  asymmetricKeyType,
  asymmetricKeyDetails,
}: KeyObject): { readonly name: string; readonly hash: string } | undefined {
  if (asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const curve = CURVES[asymmetricKeyDetails?.namedCurve ?? ''];
  return curve === undefined ? undefined : { ...ALGORITHM, ...curve };
}

/** Names the key of an issuer as its own certificate does. Programs compare the two, and makers of certificates derive them differently. */
async function keyIdentifierOf(issuer: X509Certificate): Promise<Extension> {
  const x509 = await library();
  const own = issuer.getExtension(x509.SubjectKeyIdentifierExtension);
  return own === null
    ? await x509.AuthorityKeyIdentifierExtension.create(issuer)
    : new x509.AuthorityKeyIdentifierExtension(own.keyId);
}

async function nameConstraints(domain: string): Promise<ArrayBuffer> {
  const { GeneralName, GeneralSubtree, GeneralSubtrees, NameConstraints } =
    await import('@peculiar/asn1-x509');
  const { AsnConvert } = await import('@peculiar/asn1-schema');
  return AsnConvert.serialize(
    new NameConstraints({
      permittedSubtrees: new GeneralSubtrees([
        new GeneralSubtree({ base: new GeneralName({ dNSName: domain }) }),
      ]),
      excludedSubtrees: new GeneralSubtrees(
        ALL_ADDRESSES.map(
          (iPAddress) => new GeneralSubtree({ base: new GeneralName({ iPAddress }) }),
        ),
      ),
    }),
  );
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function keyText(key: CryptoKey): string {
  return KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' });
}

/** A positive number in any case, as the standard demands. */
function newSerial(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return bytes.toString('hex');
}

/** Certificates have seconds. */
function dates({ fromMs, toMs }: Validity): { readonly notBefore: Date; readonly notAfter: Date } {
  const [notBefore, notAfter] = [fromMs, toMs].map((ms) => new Date(Math.floor(ms / 1000) * 1000));
  return { notBefore: notBefore!, notAfter: notAfter! };
}
