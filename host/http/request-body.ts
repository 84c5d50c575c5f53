// Checks the media type of a request's body against the route, and reads the body within the limit. A body is
// read whole before the handler runs; nothing is parsed here.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Body } from '../model/endpoint.ts';
import { type KeptBytes, textBytes } from '../model/kept-bytes.ts';
import { type Answer, errorAnswer } from './answers.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import type { BodyKind, Route } from './route-table.ts';

export type BodyRead =
  | { readonly kind: 'read'; readonly body: Body }
  /** The body was not read to its end: the connection has to close. */
  | { readonly kind: 'too-large' }
  /** Bodies of other requests fill the budget; the rest of this one is discarded. */
  | { readonly kind: 'no-room' }
  | { readonly kind: 'refused'; readonly answer: Answer }
  /** The connection is closed. */
  | { readonly kind: 'aborted' };

type BodyWanted = Pick<Route, 'bodyKind' | 'isBodyOptional'>;

/** Shared: the decoder keeps no state between whole texts. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

const ACCEPTED: Readonly<Record<BodyKind, string>> = {
  json: 'application/json',
  text: 'text/plain',
  bytes: '*/*',
};

const NONE: Body = { kind: 'none' };

export function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Returns whether the body's declared length is within the limit; false if no length is declared. */
export function isWithin(headers: IncomingHttpHeaders, bytesMax: number): boolean {
  const length = headers['content-length'];
  return length !== undefined && Number(length) <= bytesMax;
}

/**
 * Returns the answer to a request whose body has a media type or a content coding that the route does not take;
 * undefined if the route takes both.
 */
export function mediaTypeProblem(
  kind: BodyKind | undefined,
  headers: IncomingHttpHeaders,
): Answer | undefined {
  if (kind === undefined || kind === 'bytes') return undefined;
  const coding = headers['content-encoding']?.trim().toLowerCase();
  if (coding !== undefined && coding !== '' && coding !== 'identity')
    return errorAnswer(415, 'The body must not be compressed: this route takes it as it is.', [
      ['accept-encoding', 'identity'],
    ]);
  const accepted = ACCEPTED[kind];
  const { type, charset } = parseMediaType(headers['content-type'] ?? '');
  const isType = type === accepted || (kind === 'json' && type.endsWith('+json'));
  const isCharset = charset === undefined || charset === 'utf-8' || charset === 'utf8';
  if (isType && isCharset) return undefined;
  return errorAnswer(415, `This route takes a body of type ${accepted} in UTF-8.`, [
    ['accept', accepted],
  ]);
}

/** Returns the body that a route receives for a request without one, or the refusal of such a request. */
export function emptyBody({ bodyKind: kind, isBodyOptional }: BodyWanted): BodyRead {
  switch (isBodyOptional ? undefined : kind) {
    case undefined:
      return { kind: 'read', body: NONE };
    case 'json':
      return {
        kind: 'refused',
        answer: errorAnswer(400, 'The request has no body: this route takes JSON.'),
      };
    case 'text':
      return { kind: 'read', body: { kind: 'text', text: '' } };
    case 'bytes':
      return { kind: 'read', body: { kind: 'bytes', bytes: new Uint8Array() } };
  }
}

/**
 * Reads a body that was not read yet. If the route takes no body, up to `bytesMax` bytes of it are discarded. `kept`:
 * accounts for the memory that the body takes. Never rejects.
 */
export function readBody(
  request: IncomingMessage,
  wanted: BodyWanted,
  bytesMax: number,
  kept: KeptBytes,
): Promise<BodyRead> {
  return new Promise((resolve) => {
    const gathered = new GatheredBytes(bytesMax);
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > bytesMax) {
        request.off('data', onData);
        request.pause();
        resolve({ kind: 'too-large' });
      } else if (wanted.bodyKind === undefined) return;
      else if (kept.fits(gathered.bytesWith(chunk))) gathered.add(chunk);
      else {
        request.off('data', onData).resume();
        resolve({ kind: 'no-room' });
      }
    };
    request.on('data', onData);
    request.once('end', () => {
      const read = decodeBody(wanted, gathered.whole);
      if (read.kind === 'read') keepText(read.body, kept);
      resolve(read);
    });
    // Without a listener an aborted request would be an uncaught error.
    request.on('error', () => resolve({ kind: 'aborted' }));
    request.once('close', () => resolve({ kind: 'aborted' }));
  });
}

/** Accounts for the memory of the decoded text, in place of the bytes that were read. */
function keepText(body: Body, kept: KeptBytes): void {
  if (body.kind === 'json' || body.kind === 'text') kept.become(textBytes(body.text));
}

function decodeBody(wanted: BodyWanted, bytes: Buffer): BodyRead {
  const { bodyKind: kind } = wanted;
  if (kind === undefined || bytes.length === 0) return emptyBody(wanted);
  if (kind === 'bytes') return { kind: 'read', body: { kind, bytes } };
  try {
    return { kind: 'read', body: { kind, text: UTF8.decode(bytes) } };
  } catch {
    return { kind: 'refused', answer: errorAnswer(400, 'The body is not UTF-8.') };
  }
}

/** Returns type and charset in lower case; other parameters are ignored. */
function parseMediaType(value: string): { readonly type: string; readonly charset?: string } {
  const [type = '', ...parameters] = value.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset === undefined) return { type };
  return { type, charset: charset.slice('charset='.length).replaceAll('"', '') };
}
