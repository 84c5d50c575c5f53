// ProviderConfiguration: oidc-provider with the clients, grants and claims of an installation of svc. Tokens, codes and sessions are in
// memory, at most 1,000 of them: after a restart access tokens are still good, and people log in again.
//
// Invariants
// - A public client gets tokens for one audience only, by the authorization code with PKCE or the device flow.
// - Nobody is asked for consent, and nobody is remembered: each login asks who the person is.
import type { Log } from '@svc/kit/log';
import type { AsymmetricSigningAlgorithm, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type Provider from 'oidc-provider';
import { type KeptKeys, SIGNING_ALGORITHM } from './kept-keys.ts';
import type { LoginProviderSection } from './login-provider-section.ts';
import { codePage, noticePage } from './pages.ts';
import { type Account, type Accounts, CLI_CLIENT } from './people-file.ts';

export interface ProviderOptions {
  readonly issuer: string;
  readonly audience: string;
  readonly accounts: Accounts;
  readonly keys: KeptKeys;
  readonly section: Pick<LoginProviderSection, 'accessTokenSeconds' | 'refreshTokenSeconds'>;
  readonly log: Log;
}

const SCOPE = 'openid profile email offline_access';
const ALGORITHM: AsymmetricSigningAlgorithm = SIGNING_ALGORITHM;
export const AUTHORIZATION_PATH = '/auth';
export const DEVICE_PATH = '/device';
export const INTERACTION_PATH = '/interaction';
/** Parameter that carries a code to the page of the device flow. oidc-provider does not know it. */
export const SHOWN_CODE = 'shown';

export async function createProvider(options: ProviderOptions): Promise<Provider> {
  const { log, issuer } = options;
  const { Provider: Class, errors } = await quietly(() => import('oidc-provider'));
  const provider: Provider = await quietly(
    () =>
      new Class(issuer, {
        ...clientsAndKeys(options),
        ...claims(options.accounts),
        ttl: lifetimes(options),
        features: features(options, () => new errors.InvalidTarget()),
        scopes: SCOPE.split(' '),
        responseTypes: ['code'],
        pkce: { required: () => true },
        issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
        expiresWithSession: () => false,
        interactions: { url: (_context, { uid }) => `${INTERACTION_PATH}/${uid}` },
        loadExistingGrant: (context) => impliedGrant(provider, context, options.audience),
        renderError: (context, { error, error_description: description }) => {
          context.type = 'html';
          context.body = noticePage('This did not work', `${description ?? error}.`);
        },
      }),
  );
  // The server sets the forwarded headers itself, so that every address in an answer begins with the issuer.
  provider.proxy = true;
  provider.on('server_error', (_context, error) =>
    log({ level: 'error', message: `A request has failed: ${error.message}` }),
  );
  return provider;
}

/** Keeps oidc-provider's advice for production out of the output. */
async function quietly<Value>(make: () => Value | Promise<Value>): Promise<Value> {
  const output = globalThis.console as unknown as Record<'warn' | 'info', () => void>;
  const { warn, info } = output;
  Object.assign(output, { warn: () => undefined, info: () => undefined });
  try {
    return await make();
  } finally {
    Object.assign(output, { warn, info });
  }
}

function clientsAndKeys({ accounts, keys }: ProviderOptions): Configuration {
  const machines = [...accounts.machines].map(([id, { secret }]) => ({
    client_id: id,
    client_secret: secret,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  }));
  return {
    jwks: { keys: [keys.signing] },
    cookies: { keys: [keys.cookie] },
    clientDefaults: { id_token_signed_response_alg: ALGORITHM },
    clients: [
      {
        client_id: CLI_CLIENT,
        // A native client with a loopback redirect may use any port (RFC 8252, section 7.3).
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/callback'],
        token_endpoint_auth_method: 'none',
        response_types: ['code'],
        grant_types: [
          'authorization_code',
          'refresh_token',
          'urn:ietf:params:oauth:grant-type:device_code',
        ],
      },
      ...machines,
    ],
  };
}

function claims({ people, machines }: Accounts): Configuration {
  return {
    claims: { profile: ['name'], email: ['email', 'email_verified'] },
    findAccount: (_context, subject) => {
      const person = people.get(subject);
      return (
        person && {
          accountId: subject,
          claims: () => Promise.resolve({ sub: subject, ...claimsOf(person) }),
        }
      );
    },
    extraTokenClaims: (_context, token) => {
      const account =
        token.kind === 'ClientCredentials'
          ? machines.get(token.clientId ?? '')
          : people.get(token.accountId);
      return account && { ...claimsOf(account) };
    },
  };
}

/** Returns the claims, those that Keycloak has under its names. */
function claimsOf({ name, email, emailVerified, roles, tenants }: Account) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email, email_verified: emailVerified ?? false }),
    ...(roles === undefined ? {} : { realm_access: { roles } }),
    ...(tenants === undefined ? {} : { tenants }),
  };
}

/** Lifetimes in seconds. */
function lifetimes({ section }: ProviderOptions): NonNullable<Configuration['ttl']> {
  return {
    AccessToken: section.accessTokenSeconds,
    ClientCredentials: section.accessTokenSeconds,
    RefreshToken: section.refreshTokenSeconds,
    Grant: section.refreshTokenSeconds,
    AuthorizationCode: 60,
    DeviceCode: 600,
    IdToken: 300,
    Interaction: 600,
    Session: 600,
  };
}

function features(
  { audience, section }: ProviderOptions,
  invalidTarget: () => Error,
): NonNullable<Configuration['features']> {
  return {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    clientCredentials: { enabled: true },
    revocation: { enabled: true },
    deviceFlow: {
      enabled: true,
      charset: 'base-20',
      mask: '****-****',
      userCodeInputSource: (context, _form, _out, error) =>
        askForCode(context, error && 'This code is not known, or no longer. Enter it again.'),
      userCodeConfirmSource: (context) => askForCode(context, undefined),
      successSource: (context) => {
        context.body = noticePage('You are logged in', 'Go back to the command line.');
      },
    },
    resourceIndicators: {
      enabled: true,
      // A request that names no resource gets a token for the control plane.
      defaultResource: (_context, _client, oneOf) => oneOf ?? audience,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, resource) => {
        if (resource !== audience) throw invalidTarget();
        return {
          audience,
          scope: SCOPE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: section.accessTokenSeconds,
          jwt: { sign: { alg: ALGORITHM } },
        };
      },
    },
  };
}

function askForCode(context: KoaContextWithOIDC, problem: string | undefined): void {
  const { session, params } = context.oidc;
  const { secret } = (session as unknown as { readonly state: { readonly secret: string } }).state;
  const code = params?.['user_code'] ?? context.query[SHOWN_CODE];
  context.body = codePage({
    action: DEVICE_PATH,
    formToken: secret,
    code: typeof code === 'string' ? code : '',
    problem,
  });
}

async function impliedGrant(
  provider: Provider,
  { oidc }: KoaContextWithOIDC,
  audience: string,
): Promise<InstanceType<Provider['Grant']>> {
  const grant = new provider.Grant({
    clientId: oidc.client!.clientId,
    accountId: oidc.session!.accountId!,
  });
  grant.addOIDCScope(SCOPE);
  grant.addResourceScope(audience, SCOPE);
  await grant.save();
  return grant;
}
