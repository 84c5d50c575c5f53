// Why a request got no complete response.
import type { MessageFailure } from '../messages/failure.ts';

export type ClientFailure =
  /** Nothing listens at the address. */
  | { readonly kind: 'refused'; readonly cause: Error }
  /** The address could not be reached, or the connection broke while it was opened. */
  | { readonly kind: 'unreachable'; readonly cause: Error }
  | { readonly kind: 'connect-timeout' }
  /** The peer could not prove who it is. Not one byte of a request was sent. */
  | { readonly kind: 'identity'; readonly reason: string }
  /** The connection was closed before the first byte of any response. `isUnsent`: before the first byte of the request, too. */
  | { readonly kind: 'closed-before-response'; readonly isUnsent: boolean }
  | { readonly kind: 'closed-while-answering' }
  | { readonly kind: 'protocol'; readonly failure: MessageFailure }
  /** No final response began in time. */
  | { readonly kind: 'response-timeout' };
