// KubeError: why a request to the Kubernetes API server has no useful answer. A refusal has the server's own words, which quotas and
// admission webhooks write for the people who deploy; they are bounded in length and printable.
import { printable } from '@svc/kit/printable';

/**
 * `refused`: the server has answered with a status that is no success. `unreachable`: there was no connection, or it has
 * broken. `untrusted`: the certificate of the server is none that its authority has signed for it, so nothing was sent. `late`: the answer took longer than it may. `invalid`: the answer is cut off, too large, or not what the API answers.
 */
export type KubeErrorKind = 'refused' | 'unreachable' | 'untrusted' | 'late' | 'invalid';

export interface KubeErrorFields {
  /** HTTP status; undefined: there was no answer. */
  readonly status?: number | undefined;
  /** The reason of the server for programs, such as `AlreadyExists` or `Conflict`. */
  readonly reason?: string | undefined;
  /** Milliseconds after which the server asks for the next request. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Most characters of the words of a server. Quotas and webhooks explain themselves within these. */
export const WORDS_LENGTH_MAX = 1500;
const EXCERPT_LENGTH_MAX = 200;
const REASON = /^[A-Za-z]{1,64}$/;

export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly kind: KubeErrorKind;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: KubeErrorKind,
    message: string,
    { status, reason, retryAfterMs, cause }: KubeErrorFields = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.kind = kind;
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** An answer that is no success, as far as it was read. */
export interface RefusalAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** Returns the error of an answer that is no success: with the words of a Status object, or with an excerpt of anything else. */
export function refusalOf({ status, contentType, retryAfter, text }: RefusalAnswer): KubeError {
  const fields = { status, retryAfterMs: retryAfterMsOf(retryAfter) };
  const object = jsonObjectIn(text);
  if (typeof object?.['message'] !== 'string' || object['message'] === '')
    return new KubeError(
      'refused',
      `the API server answers ${status} ${unexpected(text, contentType)}`,
      fields,
    );
  const { message, reason } = object;
  return new KubeError('refused', bounded(message, WORDS_LENGTH_MAX), {
    ...fields,
    reason: typeof reason === 'string' && REASON.test(reason) ? reason : undefined,
  });
}

/** Returns the error of a Status object, as a watch sends it. */
export function statusError(status: Readonly<Record<string, unknown>>): KubeError {
  const { code, message, reason } = status;
  return refusalOf({
    status: typeof code === 'number' ? code : 500,
    contentType: 'application/json',
    retryAfter: undefined,
    text: JSON.stringify({ message: message ?? 'an error without a message', reason }),
  });
}

/** Describes text that is not the JSON which was expected: `with a web page: "…"`. */
export function unexpected(text: string, contentType: string | undefined): string {
  const isPage = /html/i.test(contentType ?? '') || /^\s*<(?:!doctype\s+)?html/i.test(text);
  const words = isPage ? text.slice(0, 20_000).replaceAll(/<[^>]*>/g, ' ') : text;
  const excerpt = bounded(words.replaceAll(/\s+/g, ' ').trim(), EXCERPT_LENGTH_MAX);
  const kind = isPage ? 'a web page' : 'something that is not JSON';
  return text === '' ? 'without a reason' : `with ${kind}: "${excerpt}"`;
}

/** Parses a JSON object; undefined: the text is none. */
export function jsonObjectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

function bounded(text: string, lengthMax: number): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
  return printable(cut.toWellFormed());
}

/** Reads Retry-After in seconds; the API server sends no dates. */
function retryAfterMsOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
}
