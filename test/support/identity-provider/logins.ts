// Logins: what a command line and a browser do to get tokens of a provider, step by step, over HTTP.
import { createHash, randomBytes } from 'node:crypto';
import { CLI_CLIENT } from './provider-rules.ts';
import type { IdentityProvider } from './identity-provider.ts';

export interface Tokens {
  readonly access_token: string;
  readonly id_token: string;
  readonly refresh_token: string;
}

const CALLBACK = 'http://127.0.0.1:1/callback';
const SCOPE = 'openid profile email offline_access';

/** Authorization code with PKCE. */
export async function logIn(provider: IdentityProvider, subject: string): Promise<Tokens> {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: CLI_CLIENT,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: SCOPE,
    state: 'a-state',
    prompt: 'login',
    resource: provider.audience,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const browser = new Browser();
  const page = await browser.go(`${provider.issuer}/auth?${query.toString()}`);
  const arrived = await browser.go(`${page.url}?as=${encodeURIComponent(subject)}`);
  const code = new URL(arrived.url).searchParams.get('code');
  return await tokens(provider, {
    grant_type: 'authorization_code',
    code: code!,
    redirect_uri: CALLBACK,
    code_verifier: verifier,
  });
}

/** The device flow: a person enters the code in a browser elsewhere. */
export async function logInWithDevice(
  provider: IdentityProvider,
  subject: string,
): Promise<Tokens> {
  const started = await form(provider, '/device/auth', {
    scope: SCOPE,
    resource: provider.audience,
  });
  const { device_code, user_code, verification_uri } = started as Readonly<Record<string, string>>;
  const grant = {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: device_code!,
  };
  const pending = await form(provider, '/token', grant);
  if (pending['error'] !== 'authorization_pending') throw new Error(JSON.stringify(pending));
  const browser = new Browser();
  const entry = await browser.go(verification_uri!);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(entry.body)![1]!;
  const login = await browser.go(verification_uri!, {
    xsrf,
    user_code: user_code!,
    confirm: 'yes',
  });
  await browser.go(`${login.url}?as=${encodeURIComponent(subject)}`);
  return await tokens(provider, grant);
}

export async function refreshed(provider: IdentityProvider, refreshToken: string): Promise<Tokens> {
  return await tokens(provider, {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    resource: provider.audience,
  });
}

/** Client credentials, as machines use them. */
export async function machineToken(
  provider: IdentityProvider,
  clientId: string,
  resource?: string,
): Promise<string> {
  const { secret } = provider.machines.get(clientId)!;
  const fields = {
    grant_type: 'client_credentials',
    ...(resource === undefined ? {} : { resource }),
  };
  const basic = [clientId, secret].map((part) => encodeURIComponent(part)).join(':');
  const response = await fetch(`${provider.issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(basic).toString('base64')}` },
    body: new URLSearchParams(fields),
  });
  const body = (await response.json()) as Partial<Tokens>;
  if (body.access_token === undefined) throw new Error(JSON.stringify(body));
  return body.access_token;
}

async function tokens(
  provider: IdentityProvider,
  fields: Readonly<Record<string, string>>,
): Promise<Tokens> {
  const answer = await form(provider, '/token', fields);
  if (answer['access_token'] === undefined) throw new Error(JSON.stringify(answer));
  return answer as unknown as Tokens;
}

async function form(
  provider: IdentityProvider,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const body = new URLSearchParams({ client_id: CLI_CLIENT, ...fields });
  const response = await fetch(`${provider.issuer}${path}`, { method: 'POST', body });
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

/** Follows redirects of the provider and keeps its cookies. */
class Browser {
  readonly #cookies = new Map<string, string>();

  /** Goes to the page; `fields` are sent as a form. Ends at the callback of the command line, which it does not ask. */
  async go(
    start: string,
    fields?: Readonly<Record<string, string>>,
  ): Promise<{ readonly url: string; readonly body: string }> {
    let url = start;
    let init: RequestInit =
      fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) };
    for (let redirects = 0; redirects < 10; redirects++) {
      if (url.startsWith(CALLBACK)) return { url, body: '' };
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } });
      const body = await response.text();
      for (const line of response.headers.getSetCookie()) this.#keep(line);
      const location = response.headers.get('location');
      if (location === null) return { url, body };
      url = new URL(location, url).href;
      init = {};
    }
    throw new Error(`too many redirects from ${start}`);
  }

  #keep(line: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
    if (value === '') this.#cookies.delete(name!);
    else this.#cookies.set(name!, value!);
  }
}
