// svc login: logs in to an installation with a browser, and stores the tokens for the commands that follow.
import { printable } from '@svc/kit/printable';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { logInWithBrowser } from '../platform/browser-login.ts';
import { logInWithDevice } from '../platform/device-login.ts';
import { forgetNames } from '../platform/names-cache.ts';
import { Platform } from '../platform/platform.ts';
import { connectProvider, expiryOf, type ProviderTokens } from '../platform/provider-connection.ts';
import { withLoginLock, writeLogin } from '../platform/stored-login.ts';

export const login = command(
  {
    name: 'login',
    summary: 'log in to an installation',
    about: `Logs in to the installation of the current context with a browser, which opens the login page of
its identity provider, and stores the tokens where only you can read them.`,
    words: [],
    options: {
      device: {
        type: 'boolean',
        help: 'print a code to enter in a browser on any machine',
      },
      'no-browser': { type: 'boolean', help: 'print the address of the page, and open nothing' },
    },
    notes: `Programs need no login: they set SVC_TOKEN, or SVC_CLIENT_ID with SVC_CLIENT_SECRET, and SVC_URL.`,
    examples: ['svc login', 'svc login --device', 'SVC_URL=https://api.example.com svc login'],
  },
  async (_words, { device, 'no-browser': noBrowser }) => {
    if (device && noBrowser)
      throw new UsageError('login takes --device or --no-browser, not both.');
    const platform = Platform.open();
    const { target, fetch } = platform;
    if (target.credentials.kind !== 'login')
      throw new UsageError(
        'login is not needed: SVC_TOKEN or SVC_CLIENT_ID is set, and counts before a login. Unset it first.',
      );
    const { issuer, clientId, audience } = await platform.loginInformation();
    const connection = await connectProvider({ issuer, clientId }, fetch);
    const accept = async (tokens: ProviderTokens) => {
      const { access_token: accessToken, refresh_token: refreshToken } = tokens;
      const expiresAtMs = expiryOf(tokens, Date.now());
      // A token that the control plane does not take is not stored.
      const person = await checked(new Platform(target, { token: accessToken }));
      await withLoginLock(target, () =>
        writeLogin(
          {
            url: target.url,
            issuer,
            clientId,
            audience,
            accessToken,
            expiresAtMs,
            ...(refreshToken === undefined ? {} : { refreshToken }),
          },
          target.folders,
        ),
      );
      forgetNames(target.folders);
      process.stderr.write(`${printable(`Logged in to ${target.url} as ${person}.`)}\n`);
    };
    if (device) await accept(await logInWithDevice(connection, audience));
    else await logInWithBrowser(connection, { audience, opensBrowser: !noBrowser, accept });
    return EXIT_CODE.ok;
  },
);

/** Returns the name of the person to whom a new token belongs. Rejects if the control plane does not take it. */
async function checked(platform: Platform): Promise<string> {
  try {
    const { subject, name, email } = await platform.call('whoami', {});
    return name ?? email ?? subject;
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.code !== 'SVC_NOT_LOGGED_IN') throw error;
    throw new CommandFailure(
      'SVC_LOGIN_FAILED',
      `The identity provider gave a token, but the control plane does not take it. ${error.message}`,
      { cause: error },
    );
  }
}
