// ProviderRules: the configuration of oidc-provider, with the clients, grants and claims that an installation of svc needs of its provider.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWK } from 'jose';
import type {
  AsymmetricSigningAlgorithm,
  Configuration,
  KoaContextWithOIDC,
  Provider,
} from 'oidc-provider';

export interface Person {
  readonly name?: string;
  readonly email?: string;
  /** The claim `email_verified`, which should be a boolean. */
  readonly verified?: unknown;
  readonly roles?: readonly string[];
}

export interface ProviderRules {
  readonly audience: string;
  readonly alg: string;
  readonly keys: readonly JWK[];
  readonly people: ReadonlyMap<string, Person>;
  readonly machines: ReadonlyMap<string, Person & { readonly secret: string }>;
  readonly claimsOf: (person: Person) => Readonly<Record<string, unknown>>;
}

export const CLI_CLIENT = 'svc-cli';
/** Another API of the same provider. */
export const OTHER_AUDIENCE = 'https://api.other.test';
const SCOPE = 'openid profile email offline_access';
const TOKEN_TTL_S = 300;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export async function providerHandler(issuer: string, rules: ProviderRules): Promise<Handler> {
  const { Provider, errors } = await quietly(() => import('oidc-provider'));
  const configuration: Configuration = {
    ...clientsOf(rules),
    jwks: { keys: [...rules.keys] as never },
    cookies: { keys: ['for tests'] },
    pkce: { required: () => true },
    scopes: SCOPE.split(' '),
    claims: { profile: ['name'], email: ['email', 'email_verified'] },
    findAccount: (_context, subject) => {
      const person = rules.people.get(subject);
      return (
        person && {
          accountId: subject,
          claims: () => Promise.resolve({ sub: subject, ...rules.claimsOf(person) }),
        }
      );
    },
    extraTokenClaims: (_context, token) => {
      const person =
        token.kind === 'ClientCredentials'
          ? rules.machines.get(token.clientId ?? '')
          : rules.people.get(token.accountId);
      return person && { ...rules.claimsOf(person) };
    },
    ttl: ttl(),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: (context, form) => {
          context.body = form;
        },
        successSource: (context) => {
          context.body = 'done';
        },
      },
      resourceIndicators: {
        enabled: true,
        // A request that names no resource gets a token for the control plane.
        defaultResource: (_context, _client, oneOf) => oneOf ?? rules.audience,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource) => {
          if (resource !== rules.audience && resource !== OTHER_AUDIENCE)
            throw new errors.InvalidTarget();
          return {
            audience: resource,
            scope: SCOPE,
            accessTokenFormat: 'jwt',
            accessTokenTTL: TOKEN_TTL_S,
            jwt: { sign: { alg: rules.alg as AsymmetricSigningAlgorithm } },
          };
        },
      },
    },
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: (context) => grantOf(provider, context, rules.audience),
  };
  const provider: Provider = await quietly(() => new Provider(issuer, configuration));
  const handle = provider.callback();
  return (request, response) => {
    const url = new URL(request.url!, issuer);
    if (url.pathname.startsWith('/interaction/')) void interact(provider, url, request, response);
    else void handle(request, response);
  };
}

/** The package warns of releases of Node that are not LTS, and that it is for development without a database. */
async function quietly<Value>(make: () => Value | Promise<Value>): Promise<Value> {
  const output = globalThis.console as unknown as { warn: (text: string) => void };
  const { warn } = output;
  output.warn = () => undefined;
  try {
    return await make();
  } finally {
    output.warn = warn;
  }
}

function clientsOf({ alg, machines }: ProviderRules): Configuration {
  return {
    clientDefaults: { id_token_signed_response_alg: alg as AsymmetricSigningAlgorithm },
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
      ...[...machines].map(([id, { secret }]) => ({
        client_id: id,
        client_secret: secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      })),
    ],
  };
}

function ttl(): NonNullable<Configuration['ttl']> {
  return {
    AccessToken: TOKEN_TTL_S,
    ClientCredentials: TOKEN_TTL_S,
    AuthorizationCode: 60,
    DeviceCode: 600,
    Grant: 86_400,
    IdToken: 300,
    Interaction: 600,
    RefreshToken: 86_400,
    Session: 3600,
  };
}

/** Nobody is asked for consent. */
async function grantOf(provider: Provider, { oidc }: KoaContextWithOIDC, audience: string) {
  const grant = new provider.Grant({
    clientId: oidc.client!.clientId,
    accountId: oidc.session!.accountId!,
  });
  grant.addOIDCScope(SCOPE);
  grant.addResourceScope(audience, SCOPE);
  await grant.save();
  return grant;
}

/** The login page: `?as=SUBJECT` logs in. Whoever has logged in consents to everything. */
async function interact(
  provider: Provider,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const subject = url.searchParams.get('as');
  const { prompt, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name !== 'login')
    await provider.interactionFinished(
      request,
      response,
      { consent: grantId === undefined ? {} : { grantId } },
      { mergeWithLastSubmission: true },
    );
  else if (subject === null) response.end('login page');
  else await provider.interactionFinished(request, response, { login: { accountId: subject } });
}
