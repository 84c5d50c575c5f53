// ServiceTokens: the settings by which the runtime of a module takes access tokens of the installation's identity provider, for a service
// with `auth: platform`. The audience is another setting of the operator than that of the control plane: a service that is sent a
// token for the control plane could use it there.
import { claimPathText } from '@svc/tokens/claim-path';
import type { TokenSettings } from '@svc/tokens/token-settings';

/** The identity provider of the control plane. */
export type Provider = Pick<TokenSettings, 'issuer' | 'rolesPath'> & {
  readonly section: Pick<TokenSettings['section'], 'algorithms' | 'clockToleranceMs'>;
};

/** Environment variables of a runtime. */
export type ServiceTokens = Readonly<Record<string, string>>;

/** `audience`: that of the tokens; undefined: no service takes any. */
export function serviceTokens(
  { issuer, rolesPath, section }: Provider,
  audience: string | undefined,
): ServiceTokens | undefined {
  if (audience === undefined) return undefined;
  return {
    SVC_AUTH_ISSUER: issuer,
    SVC_AUTH_AUDIENCE: audience,
    SVC_AUTH_ROLES_CLAIM: claimPathText(rolesPath),
    SVC_AUTH_ALGORITHMS: section.algorithms.join(','),
    SVC_AUTH_CLOCK_TOLERANCE_MS: String(section.clockToleranceMs),
  };
}
