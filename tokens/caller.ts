// Caller: who a request comes from, according to a token that was found good, and the outcome of judging the tokens of a
// request. An outcome never contains a byte of a token that was refused.

export interface Caller {
  /** The claim `sub`: 1 to 255 characters, which say for all time who the caller is. */
  readonly subject: string;
  /** Display name without control and format characters, at most 200 characters. */
  readonly name?: string;
  /** Address as the token has it; `normalizedEmail` of @svc/client makes it comparable. */
  readonly email?: string;
  /** Whether the provider has verified the address. False without an address. */
  readonly emailVerified: boolean;
  readonly platformAdmin: boolean;
}

export type TokenOutcome =
  | { readonly kind: 'known'; readonly caller: Caller }
  | { readonly kind: 'refused'; readonly error: 'invalid_token'; readonly reason: string }
  /** The keys of the provider cannot be read, so that nothing can be said about the token. */
  | { readonly kind: 'unavailable'; readonly retryAfterS: number }
  /** The request has no bearer token. */
  | { readonly kind: 'missing' };
