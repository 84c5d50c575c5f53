// Logins: how people and machines get tokens of a provider, with the client library openid-client and a browser that follows links
// and fills in forms.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  clientCredentialsGrant,
  ClientSecretBasic,
  type Configuration,
  discovery,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
} from 'openid-client';
import { FormBrowser } from './form-browser.ts';
import { CLI_CLIENT } from './provider-rules.ts';
import type { IdentityProvider } from './identity-provider.ts';

export interface Tokens {
  readonly access_token: string;
  readonly id_token: string;
  readonly refresh_token: string;
}

const CALLBACK = 'http://127.0.0.1:1/callback';
const SCOPE = 'openid profile email offline_access';
/** Pause between two polls of the device flow, in seconds, in place of the 5 s of RFC 8628. */
const POLL_S = 0.1;

/** Authorization code with PKCE. */
export async function logIn(provider: IdentityProvider, subject: string): Promise<Tokens> {
  const client = await publicClient(provider);
  const verifier = randomPKCECodeVerifier();
  const state = randomState();
  const page = buildAuthorizationUrl(client, {
    redirect_uri: CALLBACK,
    scope: SCOPE,
    state,
    prompt: 'login',
    resource: provider.audience,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const browser = new FormBrowser(CALLBACK);
  const login = await browser.go(page.href);
  const arrived = await browser.go(`${login.url}?as=${encodeURIComponent(subject)}`);
  return tokensOf(
    await authorizationCodeGrant(client, new URL(arrived.url), {
      pkceCodeVerifier: verifier,
      expectedState: state,
    }),
  );
}

/** The device flow: a person enters the code in a browser elsewhere, while the client polls. */
export async function logInWithDevice(
  provider: IdentityProvider,
  subject: string,
): Promise<Tokens> {
  const client = await publicClient(provider);
  const started = await initiateDeviceAuthorization(client, {
    scope: SCOPE,
    resource: provider.audience,
  });
  const polled = pollDeviceAuthorizationGrant(client, { ...started, interval: POLL_S });
  const [answer] = await Promise.all([
    polled,
    enterCode(started.verification_uri, started.user_code, subject),
  ]);
  return tokensOf(answer);
}

export async function refreshed(provider: IdentityProvider, refreshToken: string): Promise<Tokens> {
  const client = await publicClient(provider);
  return tokensOf(await refreshTokenGrant(client, refreshToken, { resource: provider.audience }));
}

/** Client credentials, as machines use them. */
export async function machineToken(
  provider: IdentityProvider,
  clientId: string,
  resource?: string,
): Promise<string> {
  const { secret } = provider.machines.get(clientId)!;
  const client = await clientOf(provider, clientId, ClientSecretBasic(secret));
  const parameters: Record<string, string> = resource === undefined ? {} : { resource };
  return (await clientCredentialsGrant(client, parameters)).access_token;
}

async function publicClient(provider: IdentityProvider): Promise<Configuration> {
  return clientOf(provider, CLI_CLIENT, None());
}

async function clientOf(
  { issuer }: IdentityProvider,
  clientId: string,
  authentication: ReturnType<typeof None>,
): Promise<Configuration> {
  return discovery(new URL(issuer), clientId, undefined, authentication, {
    // The provider is on loopback, without TLS.
    execute: [allowInsecureRequests],
  });
}

function tokensOf(answer: Partial<Tokens>): Tokens {
  const { access_token, id_token, refresh_token } = answer;
  if (access_token === undefined || id_token === undefined || refresh_token === undefined)
    throw new Error(`the provider has issued only ${Object.keys(answer).join(', ')}`);
  return { access_token, id_token, refresh_token };
}

/** Logs in at a page that a program has shown, and follows the redirect to that program. Returns its answer. */
export async function visitLogin(page: string, subject: string): Promise<string> {
  const browser = new FormBrowser(CALLBACK);
  const login = await browser.go(page);
  const arrived = await browser.go(`${login.url}?as=${encodeURIComponent(subject)}`);
  return arrived.body;
}

/** Enters the code of a device at its page. */
export async function enterCode(page: string, userCode: string, subject: string): Promise<void> {
  const browser = new FormBrowser(CALLBACK);
  const entry = await browser.go(page);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(entry.body)![1]!;
  const login = await browser.go(page, { xsrf, user_code: userCode, confirm: 'yes' });
  await browser.go(`${login.url}?as=${encodeURIComponent(subject)}`);
}
