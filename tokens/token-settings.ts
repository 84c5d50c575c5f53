// TokenSettings: the settings svc.auth.*, which say whose access tokens count, and for what. @svc/kit/settings-reader defines how
// they are given.
import {
  invalidSetting,
  sectionNames,
  type SectionRanges,
  type SettingsReader,
} from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';
import { AUTH_DEFAULTS, AUTH_RANGES, type AuthSection } from './auth-section.ts';
import { type ClaimPath, parseClaimPath } from './claim-path.ts';
import { isProviderUrl } from './provider-url.ts';

export interface TokenSettings {
  /** URL of the issuer, exactly as its tokens and its discovery document have it. */
  readonly issuer: string;
  /** Public client with which the command line logs in. */
  readonly clientId: string;
  /** The `aud` that a token must have. */
  readonly audience: string;
  /** The claim that lists the roles of a caller. */
  readonly rolesPath: ClaimPath;
  readonly section: AuthSection;
}

const ISSUER = 'svc.auth.issuer';
const CLIENT_ID = 'svc.auth.client-id';
const AUDIENCE = 'svc.auth.audience';
const ROLES_CLAIM = 'svc.auth.roles-claim';
const ROLES_CLAIM_DEFAULT = 'realm_access.roles';
const SECTIONS = { auth: { ...AUTH_DEFAULTS } };
const SECTION_RANGES: SectionRanges<typeof SECTIONS> = { auth: AUTH_RANGES };
/** Characters that a header of an answer and a URL can contain. */
const VISIBLE = /^[\x21-\x7e]+$/;
const ALGORITHMS: ReadonlySet<string> = new Set(
  'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' '),
);

/** The dotted names of these settings. */
export const TOKEN_SETTING_NAMES: readonly string[] = [
  ISSUER,
  CLIENT_ID,
  AUDIENCE,
  ROLES_CLAIM,
  ...sectionNames(SECTIONS),
];

/**
 * Reads the settings. `baseDomain` gives the default of the audience; undefined: the installation has none. Throws
 * SVC_SETTING_INVALID.
 */
export function readTokenSettings(
  reader: SettingsReader,
  baseDomain: string | undefined,
): TokenSettings {
  const section = reader.sections(SECTIONS, SECTION_RANGES).auth;
  const issuer = required(reader, ISSUER, 'the URL of the identity provider');
  const clientId = required(reader, CLIENT_ID, 'the public client of the command line');
  const audience = reader.text(AUDIENCE) ?? audienceOf(baseDomain);
  const rolesClaim = reader.text(ROLES_CLAIM) ?? ROLES_CLAIM_DEFAULT;
  const rolesPath = parseClaimPath(rolesClaim);
  if (!isProviderUrl(issuer) || new URL(issuer).search !== '')
    throw invalidSetting(ISSUER, issuer, 'a URL with https, or with http on a loopback address');
  if (!VISIBLE.test(clientId))
    throw invalidSetting(CLIENT_ID, clientId, 'an id of printable ASCII without blanks');
  if (!VISIBLE.test(audience))
    throw invalidSetting(AUDIENCE, audience, 'an audience of printable ASCII without blanks');
  // The audience of an ID token is the client. If it were this one as well, an ID token would pass as an access token.
  if (audience === clientId)
    throw invalidSetting(AUDIENCE, audience, `another value than ${CLIENT_ID}`);
  if (rolesPath === undefined)
    throw invalidSetting(ROLES_CLAIM, rolesClaim, 'names of claims with full stops between');
  checkAlgorithms(section.algorithms);
  return { issuer, clientId, audience, rolesPath, section };
}

/** Throws SVC_SETTING_INVALID for an algorithm that is not supported, such as one whose key is a shared secret. */
export function checkAlgorithms(algorithms: readonly string[]): void {
  const unknown = algorithms.find((algorithm) => !ALGORITHMS.has(algorithm));
  if (unknown !== undefined)
    throw invalidSetting('svc.auth.algorithms', unknown, `some of ${[...ALGORITHMS].join(', ')}`);
}

function required(reader: SettingsReader, dotted: string, what: string): string {
  const value = reader.text(dotted);
  if (value !== undefined) return value;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The setting ${dotted} is missing: ${what}. docs/reference/identity-provider.md explains it.`,
  );
}

function audienceOf(baseDomain: string | undefined): string {
  if (baseDomain !== undefined) return `https://api.${baseDomain}`;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The setting ${AUDIENCE} is missing: the audience of access tokens. It has a default only with a base domain.`,
  );
}
