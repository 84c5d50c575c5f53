// The header `Idempotency-Key`, for requests that would be done twice when they are repeated.
import { Request } from "@svc/guest-sdk";

export const KEY_MISSING = "Idempotency-Key: is missing, and repeating the request would do it twice";

/** Whether the caller can repeat the request. If so, the runtime sees to it that it is done once. */
export function hasKey(request: Request): bool {
  return request.header("idempotency-key") != null;
}
