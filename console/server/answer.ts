// Answer: the console's responses, and the headers that every response has.
import { STATUS_CODES, type ServerResponse } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Headers of every response; an answer may replace them. No other page may embed the console's page, which loads
 * nothing from other servers.
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;
export const JSON_TYPE = 'application/json';

export function jsonAnswer(status: number, value: unknown): Answer {
  return { status, type: JSON_TYPE, body: JSON.stringify(value) };
}

/** Creates the response of a failure. `error`: text for the user that says what happened and what to do. */
export function refusal(
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { ...jsonAnswer(status, { status, error }), headers };
}

export function write(response: ServerResponse, { status, type, body, headers }: Answer): void {
  response.writeHead(status, STATUS_CODES[status] ?? '', {
    ...HEADERS,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}
