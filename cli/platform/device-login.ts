// DeviceLogin: logging in with a browser on any machine, by the device authorization grant (RFC 8628): the person enters a code there,
// while the command asks the provider whether that has happened.
import type { CustomFetch } from 'openid-client';
import { printable } from '@svc/kit/printable';
import { CommandFailure } from '../command.ts';
import { LOGIN_SCOPE } from './browser-login.ts';
import {
  providerFailure,
  refusalCode,
  type ProviderConnection,
  type ProviderTokens,
} from './provider-connection.ts';

/** Longest wait for a person, whatever the provider allows, in seconds. */
const WAIT_S_MAX = 30 * 60;
/** Pause between two questions if the provider names none (RFC 8628, section 3.2), and the shortest one, in seconds. */
const INTERVAL_S_DEFAULT = 5;
const INTERVAL_S_MIN = 1;

/**
 * Logs in, until the code expires. The pause between two questions is the provider's, a second or more. Rejects with SVC_LOGIN_FAILED.
 */
export async function logInWithDevice(
  { oidc, config, issuer }: ProviderConnection,
  audience: string,
): Promise<ProviderTokens> {
  try {
    const started = await oidc.initiateDeviceAuthorization(config, {
      scope: LOGIN_SCOPE,
      resource: audience,
      audience,
    });
    const {
      verification_uri_complete: complete,
      verification_uri: page,
      user_code: code,
    } = started;
    process.stderr.write(
      `Open ${printable(page)} in any browser, and enter the code ${printable(code)}\n` +
        (complete === undefined ? '' : `or open ${printable(complete)}\n`),
    );
    const signal = AbortSignal.timeout(Math.min(started.expires_in, WAIT_S_MAX) * 1000);
    const fetch = config[oidc.customFetch]!;
    config[oidc.customFetch] = toleratingOutages(fetch, signal);
    return await oidc.pollDeviceAuthorizationGrant(
      config,
      { ...started, interval: Math.max(INTERVAL_S_MIN, started.interval ?? INTERVAL_S_DEFAULT) },
      { resource: audience, audience },
      { signal },
    );
  } catch (error) {
    throw isLate(error) ? expired() : providerFailure(error, issuer);
  }
}

/**
 * Lets the client ask again after an answer from 500 on, a lost connection or none in time, until `signal` is aborted: openid-client does so
 * for 503 with `Retry-After`. The pause is that between two questions.
 */
function toleratingOutages(fetch: CustomFetch, signal: AbortSignal): CustomFetch {
  return async (url, options) => {
    const response = await fetch(url, options).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return undefined;
    });
    return response === undefined || response.status >= 500
      ? new Response(null, { status: 503, headers: { 'Retry-After': '1' } })
      : response;
  };
}

function isLate(error: unknown): boolean {
  if (refusalCode(error) === 'expired_token') return true;
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause.name === 'TimeoutError') return true;
  return false;
}

function expired(): CommandFailure {
  return new CommandFailure(
    'SVC_LOGIN_FAILED',
    'Nobody has entered the code before it expired. Run svc login --device again.',
  );
}
