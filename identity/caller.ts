// Caller: who has sent a request, by the certificate of the connection. Nothing in a request can name its sender. The
// certificate has to name exactly one SPIFFE ID; any other certificate names no caller, and its requests are refused.
import type { X509Certificate } from 'node:crypto';
import { parseSpiffeId, serviceOf, SPIFFE_ID_BYTES_MAX } from './spiffe-id.ts';
import { parseSubjectAltNames } from './subject-alt-names.ts';

export type Caller =
  /** The caller is on the developer's own machine. */
  | { readonly kind: 'local' }
  | { readonly kind: 'internet' }
  | { readonly kind: 'service'; readonly project: string; readonly service: string };

/** Identities that an installation admits. */
export interface CallerRules {
  readonly trustDomain: string;
  /** SPIFFE ID of the gateway, whose requests are those of the internet. */
  readonly gatewayId: string;
}

/** A certificate that names no caller, for the log. */
export interface Unrecognised {
  readonly kind: 'unrecognised';
  /** A sentence without text of the certificate. */
  readonly reason: string;
}

/** The parts of a certificate that are read. */
export type NamedCertificate = Pick<X509Certificate, 'ca' | 'subjectAltName'>;

const INTERNET: Caller = { kind: 'internet' };

/** Returns the caller that a verified certificate names; undefined if it names none. */
export function callerOf(certificate: NamedCertificate, rules: CallerRules): Caller | undefined {
  const found = recognise(certificate, rules);
  return found.kind === 'unrecognised' ? undefined : found;
}

/** Returns the caller that a verified certificate names, or why it names none. */
export function recognise(
  certificate: NamedCertificate,
  { trustDomain, gatewayId }: CallerRules,
): Caller | Unrecognised {
  const named = spiffeIdOf(certificate);
  if (typeof named !== 'string') return named;
  // The gateway's id is a whole text. It may have the form of a service's id, and still is the gateway.
  if (named === gatewayId) return INTERNET;
  const id = parseSpiffeId(named);
  if (id === undefined) return unrecognised('Its URI is not a SPIFFE ID.');
  if (id.trustDomain !== trustDomain)
    return unrecognised('Its SPIFFE ID belongs to another trust domain.');
  const name = serviceOf(id);
  if (name === undefined)
    return unrecognised('Its SPIFFE ID names neither the gateway nor a service.');
  return { kind: 'service', ...name };
}

/** Returns the one URI that a certificate names, which need not be a SPIFFE ID. */
export function spiffeIdOf({ ca, subjectAltName }: NamedCertificate): string | Unrecognised {
  if (ca) return unrecognised('It is the certificate of a certificate authority.');
  const names = parseSubjectAltNames(subjectAltName);
  if (names === undefined) return unrecognised('Its subject alternative names are unreadable.');
  const [uri, ...others] = names.filter(({ label }) => label === 'URI');
  if (uri === undefined) return unrecognised('It names no URI.');
  if (others.length > 0) return unrecognised('It names several URIs.');
  if (uri.value.length > SPIFFE_ID_BYTES_MAX)
    return unrecognised(`Its URI is longer than ${SPIFFE_ID_BYTES_MAX} bytes.`);
  return uri.value;
}

function unrecognised(reason: string): Unrecognised {
  return { kind: 'unrecognised', reason };
}
