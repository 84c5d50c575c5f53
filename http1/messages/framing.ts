// How the end of a body is found (RFC 9112, section 6).

export type Framing =
  | { readonly kind: 'none' }
  /** `bytes` may be 0: the message then said `Content-Length: 0`. */
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  /** Only of a response: the body ends when the sender closes its side. */
  | { readonly kind: 'until-close' };

export const NO_BODY: Framing = { kind: 'none' };
export const CHUNKED: Framing = { kind: 'chunked' };
export const UNTIL_CLOSE: Framing = { kind: 'until-close' };
