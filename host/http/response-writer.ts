// Writes an answer: an endpoint's response is checked and becomes an Answer, and an Answer becomes bytes. A
// module decides status, headers and body. It cannot add bytes after a header's value, or set headers that frame
// the body or belong to the connection or the platform: such a header is a fault of the module, or is left out.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Positions } from '../engine/needs/feed.ts';
import type { Refusal } from '../model/call.ts';
import type { Body, EndpointResponse, HeaderList } from '../model/endpoint.ts';
import { GuestFault } from '../model/guest-fault.ts';
import { SMALL_BYTES } from '../model/kept-bytes.ts';
import { type Answer, refusalAnswer } from './answers.ts';
import { isCorsField, isFieldName, isFieldValue, isForThisHop } from '@svc/kit/header-grammar';
import type { HttpSettings } from './http-settings.ts';
import { endToken, POSITION_FIELD } from './position-token.ts';

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

/** A larger body is written in pieces of this many bytes. */
export const PIECE_BYTES = 64 * 1024;

const CONTENT_TYPE: Readonly<Record<Exclude<Body['kind'], 'none'>, string>> = {
  json: 'application/json',
  text: 'text/plain; charset=utf-8',
  bytes: 'application/octet-stream',
};

/**
 * Converts what a handler has answered. `positions`: those of the journal, whose end is added as Svc-Position; undefined: the
 * header is not added. Throws GuestFault as `responseAnswer` does.
 */
export function handlerAnswer(
  outcome: EndpointResponse | Refusal,
  settings: HttpSettings,
  positions: Positions | undefined,
): Answer {
  const answer =
    outcome.kind === 'refusal'
      ? handlerRefusalAnswer(outcome, settings)
      : responseAnswer(outcome, settings);
  if (positions === undefined) return answer;
  const headers = answer.headers.filter(([name]) => name !== POSITION_FIELD);
  return { ...answer, headers: [...headers, [POSITION_FIELD, endToken(positions)]] };
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
export function handlerRefusalAnswer(refusal: Refusal, settings: HttpSettings): Answer {
  const { message, details = '' } = refusal;
  const detailsBytes = Buffer.byteLength(details);
  checkSize(detailsBytes, DETAILS_BYTES_MAX);
  checkSize(Buffer.byteLength(message) + detailsBytes, settings.responseBytesMax);
  const answer = refusalAnswer(refusal);
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

export interface WriteOptions {
  /** True: the connection closes after the answer. */
  readonly closes: boolean;
  /** How long to discard what the caller is still sending before closing, in milliseconds; 0 closes at once. */
  readonly lingerMs: number;
  /** Value of the header `keep-alive` for a connection that stays open; undefined: the header is left out. */
  readonly keepAlive: string | undefined;
}

/** Begins and ends the answer. Node leaves out the content if the request was `HEAD`. */
export function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  options: WriteOptions,
): void {
  const headers = flatHeaders(answer);
  if (options.closes) headers.push('connection', 'close');
  else if (options.keepAlive !== undefined && response.shouldKeepAlive)
    headers.push('keep-alive', options.keepAlive);
  response.writeHead(answer.status, headers);
  const { body } = answer;
  if (!options.closes || options.lingerMs === 0) {
    if (body === undefined || body.length <= PIECE_BYTES) response.end(body);
    else endInPieces(response, body as Uint8Array);
    return;
  }
  // Closing a socket that has unread bytes resets it, and the reset may overtake the answer. So the whole answer is
  // sent first, the rest of the body is discarded for a while, and then the socket closes.
  response.flushHeaders();
  if (body !== undefined && body.length > 0) response.write(body);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, options.lingerMs);
  request.once('end', end).once('close', end).on('error', end).resume();
  // A caller that waits for `100 Continue` in vain ends its side.
  request.socket.once('end', end);
}

/** Writes the body in pieces as the other end reads them, so that its progress is visible. */
function endInPieces(response: ServerResponse, body: Uint8Array): void {
  let at = 0;
  const goOn = (): void => {
    for (;;) {
      const piece = body.subarray(at, (at += PIECE_BYTES));
      if (at >= body.length) {
        response.off('drain', goOn).end(piece);
        return;
      }
      if (!response.write(piece)) return;
    }
  };
  response.on('drain', goOn);
  goOn();
}

/**
 * Writes the last answer of a connection that is broken off, and closes the connection after `lingerMs` at the latest.
 */
export function writeLastAnswer(socket: Socket, answer: Answer, lingerMs: number): void {
  const fields = flatHeaders(answer);
  let head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n`;
  for (let at = 0; at < fields.length; at += 2) head += `${fields[at]}: ${fields[at + 1]}\r\n`;
  socket.end(`${head}connection: close\r\n\r\n${answer.body?.toString() ?? ''}`);
  // This is not the socket's own timer, which restarts with everything that the caller goes on sending.
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

/** Returns names and values in turn, with the content's length where content is allowed. */
function flatHeaders(answer: Answer): string[] {
  const flat: string[] = [];
  for (const [name, value] of answer.headers) flat.push(name, value);
  if (answer.body !== undefined)
    flat.push('content-length', String(Buffer.byteLength(answer.body)));
  return flat;
}

/** Returns the text, shortened and escaped for the log. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
