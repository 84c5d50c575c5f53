// AcceptedIssuers: the settings svc.auth.* of a service, which say whose access tokens its routes take. A service that asks for no
// tokens needs none of them.
import { invalidSetting, type SettingsReader } from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';
import { parseClaimPath } from './claim-path.ts';
import type { GrantPaths } from './principal.ts';
import { isProviderUrl } from './provider-url.ts';

/** An issuer whose tokens count, and how they are read. */
export interface AcceptedIssuer extends GrantPaths {
  /** Its URL, exactly as its tokens have it. */
  readonly issuer: string;
  /** A token must have one of them as its `aud`. */
  readonly audiences: readonly string[];
}

const ISSUER = 'svc.auth.issuer';
const AUDIENCE = 'svc.auth.audience';
const ROLES_CLAIM = 'svc.auth.roles-claim';
const SCOPES_CLAIM = 'svc.auth.scopes-claim';
const DEFAULTS = { [ROLES_CLAIM]: 'realm_access.roles', [SCOPES_CLAIM]: 'scope' };
const VISIBLE = /^[\x21-\x7e]+$/;
const ENTRIES = [1, 8] as const;

/** The dotted names of these settings, without those of the section. */
export const BEARER_SETTING_NAMES: readonly string[] = [
  ISSUER,
  AUDIENCE,
  ROLES_CLAIM,
  SCOPES_CLAIM,
];

/** Returns the issuers that are named, which may be none. Throws SVC_SETTING_INVALID. */
export function readAcceptedIssuers(reader: SettingsReader): readonly AcceptedIssuer[] {
  const issuers = reader.list(ISSUER, [], ENTRIES);
  const audiences = reader.list(AUDIENCE, [], ENTRIES);
  const paths = {
    rolesPath: claimPath(reader, ROLES_CLAIM),
    scopesPath: claimPath(reader, SCOPES_CLAIM),
  };
  for (const issuer of issuers)
    if (!isProviderUrl(issuer) || new URL(issuer).search !== '')
      throw invalidSetting(ISSUER, issuer, 'URLs with https, or with http on a loopback address');
  for (const audience of audiences)
    if (!VISIBLE.test(audience))
      throw invalidSetting(AUDIENCE, audience, 'audiences of printable ASCII without blanks');
  if (issuers.length === 0 || audiences.length > 0)
    return issuers.map((issuer) => ({ issuer, audiences, ...paths }));
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The setting ${AUDIENCE} is missing: the audience that access tokens of ${ISSUER} are for. Without it, a token for any other program would count here.`,
  );
}

function claimPath(reader: SettingsReader, dotted: keyof typeof DEFAULTS): GrantPaths['rolesPath'] {
  const text = reader.text(dotted) ?? DEFAULTS[dotted];
  const path = parseClaimPath(text);
  if (path === undefined)
    throw invalidSetting(dotted, text, 'names of claims with full stops between');
  return path;
}
