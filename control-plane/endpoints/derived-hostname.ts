// DerivedHostname: the hostname that a service has while it is exposed: `<service>-<project>.<base domain>`.
import { HOSTNAME_LABEL_LENGTH_MAX, type ServiceKey } from '@svc/client';

/** The base domain of an installation in its parts. */
export interface BaseDomain {
  readonly domain: string;
  /** Port at which hostnames are served over HTTPS; undefined: 443. */
  readonly port: number | undefined;
}

/** `text`: a valid base domain, also with a port. */
export function baseDomainOf(text: string): BaseDomain {
  const [domain, port] = text.split(':') as [string, string | undefined];
  return { domain, port: port === undefined ? undefined : Number(port) };
}

/** Returns the hostname, or why there is none. */
export function derivedHostname(
  { project, service }: ServiceKey,
  baseDomain: BaseDomain | undefined,
): { readonly hostname: string } | { readonly reason: string } {
  if (baseDomain === undefined)
    return {
      reason: 'this installation has no base domain, so services have no derived hostnames',
    };
  const label = `${service}-${project}`;
  return label.length > HOSTNAME_LABEL_LENGTH_MAX
    ? {
        reason: `the first label of the hostname would be ${label}, which has more than ${HOSTNAME_LABEL_LENGTH_MAX} characters: apply the service under a shorter name`,
      }
    : { hostname: `${label}.${baseDomain.domain}` };
}
