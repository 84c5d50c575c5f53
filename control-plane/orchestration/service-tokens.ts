// ServiceTokens: the settings by which a runtime takes access tokens of the installation's identity provider, for a service with
// `auth: platform`. The audience is another setting of the operator than that of the control plane: a service that is sent a
// token for the control plane could use it there.
import type { ServiceDescriptor } from '@svc/client';
import type { Log } from '@svc/kit/log';
import { invalidSetting, type SettingsReader } from '@svc/kit/settings-reader';
import { claimPathText, parseClaimPath } from '@svc/tokens/claim-path';
import type { TokenSettings } from '@svc/tokens/token-settings';

/** Which access tokens of the identity provider services take. */
export interface ServiceTokenSettings {
  /** The `aud` that a token must have; undefined: services take no tokens. */
  readonly audience: string | undefined;
  /** The claim that lists the scopes of a caller, with full stops between names. */
  readonly scopesClaim: string;
}

/** The identity provider of the control plane. */
export type Provider = Pick<TokenSettings, 'issuer' | 'audience' | 'rolesPath'> & {
  readonly section: Pick<
    TokenSettings['section'],
    'algorithms' | 'clockToleranceMs' | 'keysRefreshMs' | 'staleKeysMs' | 'readTimeoutMs'
  >;
};

/** Environment variables of a runtime. */
export type ServiceTokens = Readonly<Record<string, string>>;

/** The settings of an orchestrator to which these belong: `svc.local` or `svc.kubernetes`. */
export type OrchestratorSettings = 'svc.local' | 'svc.kubernetes';

const AUDIENCE_NAME = 'service-audience';
const SCOPES_CLAIM_NAME = 'service-scopes-claim';
const SCOPES_CLAIM_DEFAULT = 'scope';
/** A runtime reads a list of audiences, with commas between. */
const AUDIENCE = /^[\x21-\x2b\x2d-\x7e]+$/;
/** With this word a list of settings is empty. */
const EMPTY_LIST = 'none';

/** Returns the dotted names of these settings. */
export function serviceTokenSettingNames(of: OrchestratorSettings): readonly string[] {
  return [`${of}.${AUDIENCE_NAME}`, `${of}.${SCOPES_CLAIM_NAME}`];
}

/** `clientId`: the client with which users log in. Throws SVC_SETTING_INVALID. */
export function readServiceTokenSettings(
  reader: SettingsReader,
  of: OrchestratorSettings,
  clientId: string,
): ServiceTokenSettings {
  const [audienceName, scopesName] = [`${of}.${AUDIENCE_NAME}`, `${of}.${SCOPES_CLAIM_NAME}`];
  const audience = reader.text(audienceName);
  if (audience !== undefined && (!AUDIENCE.test(audience) || audience === EMPTY_LIST))
    throw invalidSetting(
      audienceName,
      audience,
      "an audience of printable ASCII without blanks and commas, other than 'none'",
    );
  // The audience of an ID token is the client. If services had the same one, an ID token would pass as an access token.
  if (audience === clientId)
    throw invalidSetting(audienceName, audience, 'another value than svc.auth.client-id');
  const scopesClaim = reader.text(scopesName) ?? SCOPES_CLAIM_DEFAULT;
  if (parseClaimPath(scopesClaim) === undefined)
    throw invalidSetting(scopesName, scopesClaim, 'names of claims with full stops between');
  return { audience, scopesClaim };
}

/** Whether the descriptor has `auth: platform`. */
export function takesTokens(descriptor: ServiceDescriptor): boolean {
  return 'auth' in descriptor && descriptor.auth !== undefined;
}

/** Returns undefined if services take no tokens. */
export function serviceTokens(
  { issuer, rolesPath, section }: Provider,
  { audience, scopesClaim }: ServiceTokenSettings,
): ServiceTokens | undefined {
  if (audience === undefined) return undefined;
  return {
    SVC_AUTH_ISSUER: issuer,
    SVC_AUTH_AUDIENCE: audience,
    SVC_AUTH_ROLES_CLAIM: claimPathText(rolesPath),
    SVC_AUTH_SCOPES_CLAIM: scopesClaim,
    SVC_AUTH_ALGORITHMS: section.algorithms.join(','),
    SVC_AUTH_CLOCK_TOLERANCE_MS: String(section.clockToleranceMs),
    SVC_AUTH_KEYS_REFRESH_MS: String(section.keysRefreshMs),
    SVC_AUTH_STALE_KEYS_MS: String(section.staleKeysMs),
    SVC_AUTH_READ_TIMEOUT_MS: String(section.readTimeoutMs),
  };
}

/** Logs that the control plane takes tokens of services, too. A provider for development, which needs no TLS, has one audience. */
export function warnOfSharedAudience(
  { issuer, audience }: Provider,
  services: ServiceTokenSettings,
  of: OrchestratorSettings,
  log: Log,
): void {
  if (services.audience !== audience || !issuer.startsWith('https:')) return;
  log({
    level: 'warn',
    message: `The control plane takes access tokens of services, too, because ${of}.${AUDIENCE_NAME} is svc.auth.audience. A service could do there what its caller may do: let the identity provider issue tokens for services with an audience of their own`,
  });
}
