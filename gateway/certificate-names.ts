// CertificateNames: the hostnames that a certificate covers: names, and wildcards that stand for one label.
import { parseSubjectAltNames } from '@svc/identity/subject-alt-names';
import type { X509Certificate } from 'node:crypto';

const WILDCARD = '*.';

/** The names of one certificate, in lower case. Those of its subject do not count. */
export function certificateNames({
  subjectAltName,
}: Pick<X509Certificate, 'subjectAltName'>): ReadonlySet<string> {
  const names = parseSubjectAltNames(subjectAltName) ?? [];
  return new Set(
    names.filter(({ label }) => label === 'DNS').map(({ value }) => value.toLowerCase()),
  );
}

/** Returns the two names by one of which a certificate covers the hostname. */
export function coveringNames(hostname: string): readonly [own: string, wildcard: string] {
  const dot = hostname.indexOf('.');
  return [hostname, dot <= 0 ? '' : `${WILDCARD}${hostname.slice(dot + 1)}`];
}

export function coversName(names: ReadonlySet<string>, hostname: string): boolean {
  return coveringNames(hostname).some((name) => names.has(name));
}
