// ProviderConnection: the identity provider of an installation, by openid-client, which is loaded for logins and renewals alone.
import type { Configuration, TokenEndpointResponse as ProviderTokens } from 'openid-client';
import { CommandFailure } from '../command.ts';
import { isConfidential } from './platform-url.ts';

export type { ProviderTokens };

type OpenIdClient = typeof import('openid-client');
type Fetch = typeof globalThis.fetch;

export interface ProviderConnection {
  readonly oidc: OpenIdClient;
  readonly config: Configuration;
  readonly issuer: string;
}

/** The public client of the command line, or a machine, which has a secret. */
export interface ProviderClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
}

/** Time for each answer of the provider, in seconds. */
export const PROVIDER_TIMEOUT_S = 10;
/** Maximum size of an answer of the provider, in bytes. */
const ANSWER_BYTES_MAX = 1024 * 1024;
/** Maximum length of what a provider says of a failure, in characters. */
const REASON_LENGTH_MAX = 500;
/** Lifetime of an access token whose answer has none, in seconds. */
const LIFETIME_S_DEFAULT = 60;

/** Reads the provider's configuration. Rejects with SVC_LOGIN_FAILED. */
export async function connectProvider(
  { issuer, clientId, clientSecret }: ProviderClient,
  fetch: Fetch,
): Promise<ProviderConnection> {
  const server = URL.parse(issuer);
  if (server === null || !isConfidential(server))
    throw new CommandFailure(
      'SVC_LOGIN_FAILED',
      `The control plane names ${issuer} as the identity provider, which is not encrypted. Ask its operators to use https.`,
    );
  const oidc = await import('openid-client');
  const authentication =
    clientSecret === undefined ? oidc.None() : oidc.ClientSecretBasic(clientSecret);
  try {
    const config = await oidc.discovery(server, clientId, undefined, authentication, {
      [oidc.customFetch]: boundedFetch(fetch) as never,
      timeout: PROVIDER_TIMEOUT_S,
      // What is not encrypted goes to this machine alone: `fetch` refuses everything else.
      execute: [oidc.allowInsecureRequests],
    });
    return { oidc, config, issuer };
  } catch (error) {
    throw providerFailure(error, issuer);
  }
}

/** Returns when the access token of an answer expires, in milliseconds since 1970. */
export function expiryOf({ expires_in }: ProviderTokens, nowMs: number): number {
  return nowMs + (expires_in ?? LIFETIME_S_DEFAULT) * 1000;
}

/** Returns the error code of OAuth in a provider's refusal; undefined for any other failure. */
export function refusalCode(error: unknown): string | undefined {
  // The provider has refused the client itself, with a challenge (RFC 6749, section 5.2).
  if (error instanceof Error && error.name === 'WWWAuthenticateChallengeError')
    return 'invalid_client';
  return error instanceof Error && 'error' in error && typeof error.error === 'string'
    ? error.error
    : undefined;
}

/** Describes a failure of the provider. Its texts are cut; no message of openid-client has a token in it. */
export function providerFailure(error: unknown, issuer: string): CommandFailure {
  if (error instanceof CommandFailure) return error;
  const code = refusalCode(error);
  if (code !== undefined) {
    const { error_description: description } = error as { readonly error_description?: string };
    const reason = (description === undefined ? code : `${code}: ${description}`).slice(
      0,
      REASON_LENGTH_MAX,
    );
    return new CommandFailure(
      'SVC_LOGIN_FAILED',
      `The identity provider ${issuer} has refused: ${reason}. Try svc login again, or ask the operators of the installation.`,
      { cause: error },
    );
  }
  return new CommandFailure(
    'SVC_LOGIN_FAILED',
    `The identity provider ${issuer} gave no usable answer (${reasonOf(error)}). Check that it can be reached, and try again.`,
    { cause: error },
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { name, message } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (name === 'TimeoutError') return `none in ${PROVIDER_TIMEOUT_S} s`;
  return (code !== undefined && /^E[A-Z]/.test(code) ? code : message).slice(0, REASON_LENGTH_MAX);
}

/** Reads whole answers, up to a size. */
function boundedFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body) {
      bytes += part.byteLength;
      if (bytes > ANSWER_BYTES_MAX)
        throw new TypeError(`an answer of more than ${ANSWER_BYTES_MAX} bytes`);
      parts.push(part);
    }
    const { status, headers } = response;
    return new Response(Buffer.concat(parts), { status, headers });
  };
}
