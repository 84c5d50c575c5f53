// TokenOutcome: what judging the tokens of a request has found. An outcome never contains a byte of a token that was refused. What a
// caller is beside its subject is decided by the program that asks, from the claims of its token.

/** The caller of a request, according to a token that was found good. */
export interface Subject {
  /** The claim `sub`: 1 to 255 characters, which say for all time who the caller is. */
  readonly subject: string;
}

export type TokenOutcome<Caller extends Subject = Subject> =
  | { readonly kind: 'known'; readonly caller: Caller }
  | TokenRefusal
  /** The keys of the provider cannot be read, so that nothing can be said about the token. */
  | { readonly kind: 'unavailable'; readonly retryAfterS: number }
  /** The request has no bearer token. */
  | { readonly kind: 'missing' };

export interface TokenRefusal {
  readonly kind: 'refused';
  readonly error: 'invalid_token';
  readonly reason: string;
}
