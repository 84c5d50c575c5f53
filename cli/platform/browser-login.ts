// BrowserLogin: logging in with a browser on this machine: authorization code with PKCE, sent back to a loopback address.
import { spawn } from 'node:child_process';
import { printable } from '@svc/kit/printable';
import { CommandFailure } from '../command.ts';
import { LoginCallback, type CallbackPage } from './login-callback.ts';
import { isConfidential } from './platform-url.ts';
import {
  providerFailure,
  type ProviderConnection,
  type ProviderTokens,
} from './provider-connection.ts';

/** Scopes of a login: who the person is, and a refresh token. */
export const LOGIN_SCOPE = 'openid profile email offline_access';
/** How long a login in the browser may take, in milliseconds. */
const LOGIN_TIMEOUT_MS = 5 * 60_000;

interface BrowserLoginOptions {
  readonly audience: string;
  /** False: the address of the page is only printed. */
  readonly opensBrowser: boolean;
  /** Does what makes the login one: the browser's page reports a success after it. */
  readonly accept: (tokens: ProviderTokens) => Promise<void>;
}

/** Logs in. Rejects with SVC_LOGIN_FAILED, and as `accept` does. */
export async function logInWithBrowser(
  { oidc, config, issuer }: ProviderConnection,
  { audience, opensBrowser, accept }: BrowserLoginOptions,
): Promise<void> {
  const state = oidc.randomState();
  const nonce = oidc.randomNonce();
  const verifier = oidc.randomPKCECodeVerifier();
  const callback = await LoginCallback.listen(state);
  try {
    const page = oidc.buildAuthorizationUrl(config, {
      redirect_uri: callback.redirectUri,
      scope: LOGIN_SCOPE,
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      // The person chooses each time who logs in; a refresh token needs consent (OpenID Connect Core, section 11).
      prompt: 'login consent',
      resource: audience,
      audience,
    });
    if (!isConfidential(page)) throw new TypeError('its login page is not encrypted');
    process.stderr.write(
      opensBrowser
        ? `Opening the login page in a browser. If none opens, open this address yourself:\n${page.href}\n`
        : `Open this address in a browser of this machine:\n${page.href}\n`,
    );
    if (opensBrowser) openBrowser(page.href);
    const arrival = await inTime(callback.arrival);
    try {
      const tokens = await oidc.authorizationCodeGrant(
        config,
        arrival.url,
        { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce },
        { resource: audience, audience },
      );
      await accept(tokens);
      arrival.answer(LOGGED_IN);
    } catch (error) {
      arrival.answer(FAILED);
      throw error;
    }
  } catch (error) {
    throw providerFailure(error, issuer);
  } finally {
    callback.close();
  }
}

const LOGGED_IN: CallbackPage = {
  title: 'You are logged in',
  text: 'Close this window and return to the terminal.',
};
const FAILED: CallbackPage = {
  title: 'The login has failed',
  text: 'Return to the terminal, which shows why. You are not logged in.',
};

async function inTime<Value>(arrival: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(
      new CommandFailure(
        'SVC_LOGIN_FAILED',
        `Nobody has logged in within ${LOGIN_TIMEOUT_MS / 60_000} minutes. Run svc login again, or svc login --device if the browser is ` +
          'on another machine.',
      ),
    );
  }, LOGIN_TIMEOUT_MS);
  try {
    return await Promise.race([arrival, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a page in the person's browser, if there is one. The address has no secret: the code comes back by the redirect. */
function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', ({ message }) =>
    process.stderr.write(`No browser could be opened (${printable(message)}).\n`),
  );
  child.unref();
}
