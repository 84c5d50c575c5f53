// svc logout: deletes the stored login of an installation, and has the identity provider revoke it.
import { command, EXIT_CODE } from '../command.ts';
import { readEnvironment } from '../platform/environment.ts';
import { forgetNames } from '../platform/names-cache.ts';
import { platformFetch } from '../platform/platform-fetch.ts';
import { connectProvider } from '../platform/provider-connection.ts';
import {
  deleteLogin,
  readLogin,
  withLoginLock,
  type StoredLogin,
} from '../platform/stored-login.ts';
import { findTarget, type Target } from '../platform/target.ts';

export const logout = command(
  {
    name: 'logout',
    summary: 'log out of an installation',
    about: `Deletes the login of the installation of the current context, and revokes it at the identity
provider if the provider can do that.`,
    words: [],
    options: {},
    notes: `An access token that was given out before counts until it expires, which takes minutes.`,
    examples: ['svc logout', 'SVC_CONTEXT=local svc logout'],
  },
  async () => {
    const target = findTarget(readEnvironment());
    await withLoginLock(target, async () => {
      const login = loginOf(target);
      // The login is gone from here on, whatever the provider answers.
      deleteLogin(target);
      forgetNames(target.folders);
      if (login?.refreshToken !== undefined) await revoke(target, login, login.refreshToken);
    });
    process.stderr.write(`Logged out of ${target.url}.\n`);
    return EXIT_CODE.ok;
  },
);

/** Returns the login; undefined if there is none that can be used. */
function loginOf(target: Target): StoredLogin | undefined {
  try {
    return readLogin(target);
  } catch {
    return undefined;
  }
}

async function revoke(
  { url, authority }: Target,
  { issuer, clientId }: StoredLogin,
  refreshToken: string,
): Promise<void> {
  try {
    const fetch = platformFetch({ platformUrl: url, authority });
    const { oidc, config } = await connectProvider({ issuer, clientId }, fetch);
    if (config.serverMetadata().revocation_endpoint === undefined) return;
    await oidc.tokenRevocation(config, refreshToken, { token_type_hint: 'refresh_token' });
  } catch {
    process.stderr.write(
      'The identity provider could not be asked to revoke the login, which is deleted here. It counts there until it expires.\n',
    );
  }
}
