// BrowserAccess: what pages of other origins may do with the API, if the operator allows their origins. The caller is known by its token, which a
// page sends by itself, so no page gets cookies or other credentials of the browser sent along.
import type { ServiceSettings } from '@svc/host';

/** `origins`: those of the pages, such as `https://console.example.com`; none: no page of another origin can read an answer. */
export function browserAccess(origins: readonly string[]): ServiceSettings {
  return {
    'svc.http.cors.origins': origins,
    'svc.http.cors.headers': ['authorization', 'content-type', 'idempotency-key', 'traceparent'],
    'svc.http.cors.exposed-headers': [
      'ratelimit-limit',
      'ratelimit-remaining',
      'ratelimit-reset',
      'retry-after',
      'www-authenticate',
    ],
    'svc.http.cors.credentials': false,
  };
}
