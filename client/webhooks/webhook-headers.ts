// WebhookHeaders: the headers of a delivery of a webhook, and their values in the headers of any HTTP server.

/** Base64 of the HMAC-SHA256 under the secret of the subscription. */
export const WEBHOOK_SIGNATURE_HEADER = 'X-Hook-Signature';
/** The same under the former secret, for some time after a rotation. */
export const WEBHOOK_PREVIOUS_SIGNATURE_HEADER = 'X-Hook-Signature-Previous';
/** Time of the attempt, such as `2026-02-28T12:30:00.000Z`. It is signed. */
export const WEBHOOK_TIMESTAMP_HEADER = 'X-Hook-Timestamp';
/** Type of the event. It is not signed; the body has it as well. */
export const WEBHOOK_EVENT_HEADER = 'X-Hook-Event';
/** Id of the delivery. It is not signed. */
export const WEBHOOK_DELIVERY_HEADER = 'X-Hook-Delivery';

/** The headers of a request: `Headers` of fetch, an object such as `request.headers` of Node, or a list of pairs. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | readonly (readonly [name: string, value: string])[]
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Returns each value of a header that is not empty. Fetch and Node join the values of a repeated header with commas, and no value of
 * these headers has a comma of its own.
 */
export function headerValues(headers: WebhookHeaders, name: string): readonly string[] {
  return given(headers, name.toLowerCase())
    .map((value) => value.trim())
    .filter((value) => value !== '')
    .flatMap((value) => value.split(',').map((part) => part.trim()));
}

function given(headers: WebhookHeaders, name: string): readonly string[] {
  if (isFetchHeaders(headers)) return [headers.get(name) ?? ''];
  const pairs = isPairs(headers) ? headers : Object.entries(headers);
  return pairs.filter(([key]) => key.toLowerCase() === name).flatMap(([, value]) => value ?? []);
}

function isPairs(
  headers: WebhookHeaders,
): headers is readonly (readonly [name: string, value: string])[] {
  return Array.isArray(headers);
}

function isFetchHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return 'get' in headers && typeof headers.get === 'function';
}
