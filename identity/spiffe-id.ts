// SpiffeId: the identity that a certificate carries, `spiffe://<trust-domain>/<segment>/…` (the SPIFFE ID of the SPIFFE
// standard). The grammar is strict: an id has one spelling, so two ids are the same exactly when their texts are.
import { isProjectId, isServiceName, projectNamespace, type ServiceKey } from '@svc/client';

/** Longest id in bytes, by the standard. */
export const SPIFFE_ID_BYTES_MAX = 2048;

const SCHEME = 'spiffe://';
const TRUST_DOMAIN = /^[a-z0-9._-]{1,255}$/;
const SEGMENT = /^[A-Za-z0-9._-]+$/;

export interface SpiffeId {
  readonly trustDomain: string;
  readonly segments: readonly string[];
}

/**
 * Parses an id; undefined if the text is none. An id has no port, user, query, fragment, percent-encoding, empty segment or
 * dot segment, and its scheme and trust domain are in lower case.
 */
export function parseSpiffeId(text: string): SpiffeId | undefined {
  if (text.length > SPIFFE_ID_BYTES_MAX || !text.startsWith(SCHEME)) return undefined;
  const [trustDomain = '', ...segments] = text.slice(SCHEME.length).split('/');
  if (!TRUST_DOMAIN.test(trustDomain) || !segments.every(isSegment)) return undefined;
  return { trustDomain, segments };
}

export function isTrustDomain(text: string): boolean {
  return TRUST_DOMAIN.test(text);
}

/** Returns the service of `…/ns/svc-<project>/sa/<service>`; undefined if the id names none. */
export function serviceOf({ segments }: SpiffeId): ServiceKey | undefined {
  const [ns, namespace = '', sa, service = ''] = segments;
  if (segments.length !== 4 || ns !== 'ns' || sa !== 'sa') return undefined;
  const project = namespace.slice(projectNamespace('').length);
  if (namespace !== projectNamespace(project)) return undefined;
  return isProjectId(project) && isServiceName(service) ? { project, service } : undefined;
}

/** Returns the id of a service. Throws a TypeError if project or service is not a name. */
export function serviceId(trustDomain: string, { project, service }: ServiceKey): string {
  if (!isTrustDomain(trustDomain) || !isProjectId(project) || !isServiceName(service))
    throw new TypeError(`${trustDomain}: ${project}/${service} is no service of a trust domain`);
  return `${SCHEME}${trustDomain}/ns/${projectNamespace(project)}/sa/${service}`;
}

/** Returns the id of the gateway of an installation that names no other one. */
export function defaultGatewayId(trustDomain: string): string {
  return `${SCHEME}${trustDomain}/gateway`;
}

function isSegment(segment: string): boolean {
  return SEGMENT.test(segment) && segment !== '.' && segment !== '..';
}
