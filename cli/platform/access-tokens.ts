// AccessTokens: the tokens that a command sends to its target.
//
// Invariants: a refresh token is used once, by one process: whoever renews a login has its lock, and looks first whether another
// command has renewed it. A signal ends the command only after the new tokens are stored, since the provider takes a
// refresh token that comes twice for stolen, and ends the login.
import { UsageError } from '../usage-error.ts';
import {
  deleteLogin,
  notLoggedIn,
  readLogin,
  withLoginLock,
  writeLogin,
  type StoredLogin,
} from './stored-login.ts';
import {
  connectProvider,
  expiryOf,
  providerFailure,
  refusalCode,
  type ProviderClient,
  type ProviderTokens,
} from './provider-connection.ts';
import type { Target } from './target.ts';

type Fetch = typeof globalThis.fetch;

export interface AccessTokens {
  /** Returns a token that is valid as far as this machine's clock knows. Rejects with SVC_NOT_LOGGED_IN or SVC_LOGIN_FAILED. */
  token(): Promise<string>;
  /** Returns another token for one that the control plane has refused; undefined if there is no other way to get one. */
  renewed(refused: string): Promise<string | undefined>;
}

/** A token that expires sooner than this is renewed before it is sent, in milliseconds. */
const EXPIRY_MARGIN_MS = 20_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** `findMachineProvider`: the provider and audience that the control plane names, for a machine's client. */
export function accessTokens(
  target: Target,
  fetch: Fetch,
  findMachineProvider: () => Promise<{ readonly issuer: string; readonly audience: string }>,
): AccessTokens {
  const { credentials } = target;
  switch (credentials.kind) {
    case 'token':
      return {
        token: () => Promise.resolve(credentials.token),
        renewed: () => Promise.resolve(undefined),
      };
    case 'machine': {
      const { clientId, clientSecret } = credentials;
      let granted: Promise<string> | undefined;
      const token = () =>
        (granted ??= findMachineProvider().then(async ({ issuer, audience }) =>
          machineToken({ issuer, clientId, clientSecret }, audience, fetch),
        ));
      return {
        token,
        async renewed(refused) {
          // A command that waits may outlive its token.
          granted = undefined;
          const other = await token();
          return other === refused ? undefined : other;
        },
      };
    }
    case 'login':
      return {
        async token() {
          const login = readLogin(target);
          return isFresh(login) ? login.accessToken : await renew(target, fetch, login.accessToken);
        },
        renewed: async (refused) => await renew(target, fetch, refused),
      };
  }
}

/** Returns the token of a login that needs no renewal; undefined otherwise. Throws SVC_NOT_LOGGED_IN. */
export function freshToken(target: Target): string | undefined {
  const login = readLogin(target);
  return isFresh(login) ? login.accessToken : undefined;
}

function isFresh({ expiresAtMs }: StoredLogin): boolean {
  return expiresAtMs - Date.now() > EXPIRY_MARGIN_MS;
}

async function renew(target: Target, fetch: Fetch, stale: string): Promise<string> {
  return await withLoginLock(target, async () => {
    const login = readLogin(target);
    if (login.accessToken !== stale) return login.accessToken;
    const { refreshToken } = login;
    if (refreshToken === undefined)
      throw notLoggedIn(`Your login to ${target.url} has expired. Log in again with svc login.`);
    return await withoutSignals(async () => {
      const answer = await refreshed(target, fetch, { ...login, refreshToken });
      const renewed: StoredLogin = {
        ...login,
        accessToken: answer.access_token,
        expiresAtMs: expiryOf(answer, Date.now()),
        refreshToken: answer.refresh_token ?? refreshToken,
      };
      writeLogin(renewed, target.folders);
      return renewed.accessToken;
    });
  });
}

async function refreshed(
  target: Target,
  fetch: Fetch,
  { issuer, clientId, audience, refreshToken }: StoredLogin & { readonly refreshToken: string },
): Promise<ProviderTokens> {
  const { oidc, config } = await connectProvider({ issuer, clientId }, fetch);
  try {
    return await oidc.refreshTokenGrant(config, refreshToken, { resource: audience, audience });
  } catch (error) {
    if (refusalCode(error) !== 'invalid_grant') throw providerFailure(error, issuer);
    deleteLogin(target);
    throw notLoggedIn(
      `Your login to ${target.url} has ended: the identity provider no longer takes it. Log in again with svc login.`,
    );
  }
}

async function machineToken(
  client: ProviderClient,
  audience: string,
  fetch: Fetch,
): Promise<string> {
  const { oidc, config } = await connectProvider(client, fetch);
  try {
    const answer = await oidc.clientCredentialsGrant(config, { resource: audience, audience });
    return answer.access_token;
  } catch (error) {
    if (refusalCode(error) === 'invalid_client' || refusalCode(error) === 'unauthorized_client')
      throw new UsageError(
        `the identity provider ${client.issuer} does not take SVC_CLIENT_ID with SVC_CLIENT_SECRET. Check both.`,
      );
    throw providerFailure(error, client.issuer);
  }
}

/** Runs `work`, and lets signals that arrive meanwhile end the process afterwards. */
async function withoutSignals<Value>(work: () => Promise<Value>): Promise<Value> {
  let arrived: NodeJS.Signals | undefined;
  const note = (signal: NodeJS.Signals) => (arrived ??= signal);
  for (const signal of SIGNALS) process.on(signal, note);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, note);
    if (arrived !== undefined) process.kill(process.pid, arrived);
  }
}
