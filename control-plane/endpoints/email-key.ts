// EmailKey: the normalised form of an address that a caller sends, or the answer 400.
import type { ApiError } from '@svc/api/api-answer';
import { normalizedEmail, problemsText } from '@svc/client';
import { respondError } from '@svc/host';

/** `path`: where the address is in the input: `/email`. */
export function emailKey(address: string, path: string): string | ApiError {
  return (
    normalizedEmail(address) ??
    respondError(
      400,
      problemsText([{ path, reason: 'is not an e-mail address such as ann@example.com' }]),
    )
  );
}
