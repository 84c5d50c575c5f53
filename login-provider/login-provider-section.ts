// LoginProviderSection: the settings svc.login-provider.* that are numbers, with their defaults and ranges, from which
// docs/reference/settings.md is generated.
import type { Range } from '@svc/kit/settings-reader';

export interface LoginProviderSection {
  /** Port of the login provider; 0 takes a free one. */
  readonly port: number;
  /** Lifetime of an access token, in seconds. */
  readonly accessTokenSeconds: number;
  /** Lifetime of a refresh token that is not used, in seconds. */
  readonly refreshTokenSeconds: number;
  /** Open connections; further ones are closed. */
  readonly connectionsMax: number;
  /** Time for a whole request to arrive, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Time for requests in flight to finish after SIGTERM, in milliseconds. */
  readonly stopTimeoutMs: number;
}

export const LOGIN_PROVIDER_DEFAULTS: {
  readonly [Key in keyof LoginProviderSection]: LoginProviderSection[Key];
} = {
  port: 7641,
  accessTokenSeconds: 300,
  refreshTokenSeconds: 86_400,
  connectionsMax: 200,
  requestTimeoutMs: 10_000,
  stopTimeoutMs: 2000,
};

export const LOGIN_PROVIDER_RANGES: { readonly [Key in keyof LoginProviderSection]: Range } = {
  port: [0, 65_535],
  accessTokenSeconds: [10, 86_400],
  refreshTokenSeconds: [10, 31_536_000],
  connectionsMax: [1, 100_000],
  requestTimeoutMs: [100, 600_000],
  stopTimeoutMs: [0, 600_000],
};
