// IdentitySecret: the secret with the certificate of a program, its key and the authorities that it trusts, as cert-manager writes them and every
// program of svc reads them.
import type { CertificateTexts } from '@svc/identity/certificates';
import type { ServiceKey } from '@svc/client';
import type { JsonObject, Manifest, Metadata } from './manifest.ts';
import {
  identitySecretName,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  serviceMetadata,
} from './object-names.ts';

/** Returns the secret of a service without its data. */
export function serviceIdentitySecret(key: ServiceKey): Manifest {
  return secret(serviceMetadata(key, identitySecretName(key)));
}

/** Returns a secret of the platform without its data. */
export function platformIdentitySecret(namespace: string, name: string): Manifest {
  return secret({ name, namespace, labels: { [MANAGED_BY_LABEL]: MANAGED_BY } });
}

export function withIdentity(
  manifest: Manifest,
  { certificate, key, authorities }: CertificateTexts,
): Manifest {
  const data: JsonObject = {
    'ca.crt': encoded(authorities),
    'tls.crt': encoded(certificate),
    'tls.key': encoded(key),
  };
  return { ...manifest, data };
}

/** Returns the identity in the data of a secret, which need not be a good one; undefined if a part of it is missing. */
export function identityIn(found: {
  readonly [field: string]: unknown;
}): CertificateTexts | undefined {
  const data = Object(found['data']) as Readonly<Record<string, unknown>>;
  const [certificate, key, authorities] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => {
    const value = data[name];
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString() : undefined;
  });
  if (certificate === undefined || key === undefined || authorities === undefined) return undefined;
  return { certificate, key, authorities };
}

function secret(metadata: Metadata): Manifest {
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls' };
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}
