// Converts responses: an endpoint's response is checked and becomes an Answer, and an Answer becomes what a connection sends. A
// module decides status, headers and body. It cannot add bytes after a header's value, or set headers that frame
// the body or belong to the connection or the platform: such a header is a fault of the module, or is left out.
import type { WholeResponse } from '@svc/http1';
import type { Refusal } from '@svc/model/call';
import type { Body, EndpointResponse, HeaderList } from '@svc/model/endpoint';
import { GuestFault } from '@svc/model/guest-fault';
import { SMALL_BYTES } from '@svc/model/kept-bytes';
import { type Answer, type ErrorForm, refusalAnswer } from './answers.ts';
import { isCorsField, isFieldName, isFieldValue, isForThisHop } from '@svc/kit/header-grammar';
import type { HttpSettings } from './http-settings.ts';
import { POSITION_FIELD } from './position-token.ts';
import { reasonPhrase } from './reason-phrases.ts';

/** Headers that only the server sets, for framing and for the date: left out of an endpoint's response. */
const FRAMING_FIELDS: ReadonlySet<string> = new Set(['content-length', 'date']);

/** Statuses whose responses have no content and no `content-length`. */
const NO_CONTENT: ReadonlySet<number> = new Set([204, 304]);
/** Status whose responses have no content, and a `content-length` of 0. */
const RESET_CONTENT = 205;

/**
 * Maximum bytes of a refusal's details, which are parsed before they are sent; the module's fuel does not pay for that.
 */
const DETAILS_BYTES_MAX = 64 * 1024;

const CONTENT_TYPE: Readonly<Record<Exclude<Body['kind'], 'none'>, string>> = {
  json: 'application/json',
  text: 'text/plain; charset=utf-8',
  bytes: 'application/octet-stream',
};

interface AnswerOptions {
  readonly settings: HttpSettings;
  /** Whether the header Svc-Position is the runtime's; otherwise the module may set it, as any other. */
  readonly hasPosition: boolean;
  /** Whether callers get the runtime's header. */
  readonly showsPosition: boolean;
  readonly errors: ErrorForm;
}

/** Converts what a handler has answered. Throws GuestFault as `responseAnswer` does. */
export function handlerAnswer(
  outcome: EndpointResponse | Refusal,
  { settings, hasPosition, showsPosition, errors }: AnswerOptions,
): Answer {
  if (outcome.kind === 'refusal') return handlerRefusalAnswer(outcome, settings, errors);
  if (!hasPosition) return responseAnswer(outcome, settings);
  // The limits are those of the module, which has not set this header.
  const headers = outcome.headers.filter(([name]) => name !== POSITION_FIELD);
  const answer = responseAnswer({ ...outcome, headers }, settings);
  const position = outcome.headers.filter(([name]) => name === POSITION_FIELD);
  return showsPosition ? { ...answer, headers: [...answer.headers, ...position] } : answer;
}

/** Converts a response. Throws GuestFault if HTTP cannot carry it, or if it exceeds a limit. */
export function responseAnswer(response: EndpointResponse, settings: HttpSettings): Answer {
  const { status } = response;
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new GuestFault('value', `The response has the status ${status}, not one of 200 to 599.`);
  const headers = checkedHeaders(response.headers, settings);
  if (NO_CONTENT.has(status)) return { status, headers, body: undefined };
  const { body } = response;
  if (body.kind === 'none' || status === RESET_CONTENT) return { status, headers, body: '' };
  const content = body.kind === 'bytes' ? body.bytes : body.text;
  const bytes = Buffer.byteLength(content);
  checkSize(bytes, settings.responseBytesMax);
  const types = headers.filter(([name]) => name === 'content-type').length;
  if (types > 1) throw new GuestFault('value', 'The response has more than one content-type.');
  if (types === 0) headers.push(['content-type', CONTENT_TYPE[body.kind]]);
  return { status, headers, body: sendable(content, bytes) };
}

/** Converts a refusal of a handler. Throws GuestFault if it exceeds a response's limits. */
export function handlerRefusalAnswer(
  refusal: Refusal,
  settings: HttpSettings,
  errors: ErrorForm,
): Answer {
  const { message, details = '' } = refusal;
  const detailsBytes = Buffer.byteLength(details);
  checkSize(detailsBytes, DETAILS_BYTES_MAX);
  checkSize(Buffer.byteLength(message) + detailsBytes, settings.responseBytesMax);
  const answer = refusalAnswer(refusal, errors);
  const { body = '' } = answer;
  return { ...answer, body: sendable(body, Buffer.byteLength(body)) };
}

/** Converts a large text to bytes, so that the text does not stay in memory beside its bytes until they have left. */
function sendable(content: string | Uint8Array, bytes: number): string | Uint8Array {
  return typeof content === 'string' && bytes > SMALL_BYTES ? Buffer.from(content) : content;
}

/** Returns the approximate memory of an answer until it has left, in bytes. */
export function answerBytes({ headers, body = '' }: Answer): number {
  let bytes = body.length;
  for (const [name, value] of headers) bytes += name.length + value.length;
  return bytes;
}

function checkSize(bytes: number, bytesMax: number): void {
  if (bytes > bytesMax)
    throw new GuestFault(
      'limit',
      `The response has a body or details of ${bytes} bytes, and ${bytesMax} is the limit.`,
      { limit: 'response-bytes' },
    );
}

function checkedHeaders(headers: HeaderList, settings: HttpSettings): [string, string][] {
  if (headers.length > settings.responseHeadersMax)
    throw new GuestFault(
      'limit',
      `The response has more than ${settings.responseHeadersMax} headers.`,
      { limit: 'response-headers' },
    );
  let bytes = 0;
  const checked: [string, string][] = [];
  for (const [name, value] of headers) {
    // The size is checked before the grammar, so that the check of the grammar is bounded.
    bytes += name.length + value.length;
    if (bytes > settings.responseHeaderBytesMax)
      throw new GuestFault(
        'limit',
        `The response headers are longer than ${settings.responseHeaderBytesMax} bytes.`,
        { limit: 'response-headers' },
      );
    if (!isFieldName(name))
      throw new GuestFault('value', `The response has a header named ${quoted(name)}.`);
    if (!isFieldValue(value))
      throw new GuestFault(
        'value',
        `The response header ${name} has the value ${quoted(value)}, which HTTP cannot carry.`,
      );
    const lowerName = name.toLowerCase();
    if (isCorsField(lowerName)) continue;
    if (!isForThisHop(lowerName) && !FRAMING_FIELDS.has(lowerName))
      checked.push([lowerName, value]);
  }
  return checked;
}

/** Converts an answer to what its connection sends. `date`: value of the header `date`; undefined: the header is left out. */
export function wholeResponse(
  { status, headers, body }: Answer,
  date: string | undefined,
): WholeResponse {
  const fields: string[] = [];
  for (const [name, value] of headers) fields.push(name, value);
  if (date !== undefined) fields.push('date', date);
  const bytes = wireBody(body ?? '');
  if (body !== undefined) fields.push('content-length', String(bytes.length));
  return { status, reason: reasonPhrase(status), fields, body: bytes };
}

/** Returns a text in ASCII as it is: its connection encodes it with the head. */
function wireBody(body: string | Uint8Array): string | Buffer {
  if (typeof body !== 'string') return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return Buffer.byteLength(body) === body.length ? body : Buffer.from(body);
}

/** Returns the text, shortened and escaped for the log. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
