// Checks the media type of a request's body against the route, and reads the body within the limit. A body is
// read whole; nothing is parsed here.
import type { BodyReceiver, FieldList, Framing, ServerExchange } from '@svc/http1';
import type { Body } from '@svc/model/endpoint';
import { type KeptBytes, textBytes } from '@svc/model/kept-bytes';
import { type Answer, errorAnswer } from './answers.ts';
import { GatheredBytes } from '@svc/kit/gathered-bytes';
import { headerValue } from './request-headers.ts';
import type { BodyKind, Route } from './route-table.ts';

export type BodyRead =
  | { readonly kind: 'read'; readonly body: Body }
  /** Bodies of other requests fill the budget. */
  | { readonly kind: 'no-room' }
  | { readonly kind: 'refused'; readonly answer: Answer }
  /** The request is over before its body is complete: its connection has answered it, or is closed. */
  | { readonly kind: 'over' };

type BodyWanted = Pick<Route, 'bodyKind' | 'isBodyOptional'>;

/** Shared: the decoder keeps no state between whole texts. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

const ACCEPTED: Readonly<Record<BodyKind, string>> = {
  json: 'application/json',
  text: 'text/plain',
  bytes: '*/*',
};

const NONE: Body = { kind: 'none' };

export function hasBody(framing: Framing): boolean {
  return framing.kind === 'chunked' || (framing.kind === 'length' && framing.bytes > 0);
}

/**
 * Returns the answer to a request whose body has a media type or a content coding that the route does not take;
 * undefined if the route takes both.
 */
export function mediaTypeProblem(
  kind: BodyKind | undefined,
  fields: FieldList,
): Answer | undefined {
  if (kind === undefined || kind === 'bytes') return undefined;
  const coding = headerValue(fields, 'content-encoding')?.toLowerCase();
  if (coding !== undefined && coding !== '' && coding !== 'identity')
    return errorAnswer(415, 'The body must not be compressed: this route takes it as it is.', [
      ['accept-encoding', 'identity'],
    ]);
  const accepted = ACCEPTED[kind];
  const { type, charset } = parseMediaType(headerValue(fields, 'content-type') ?? '');
  const isType = type === accepted || (kind === 'json' && type.endsWith('+json'));
  const isCharset = charset === undefined || charset === 'utf-8' || charset === 'utf8';
  if (isType && isCharset) return undefined;
  return errorAnswer(415, `This route takes a body of type ${accepted} in UTF-8.`, [
    ['accept', accepted],
  ]);
}

/** Returns the answer to a request whose body is longer than the limit. */
export function tooLargeAnswer(bytesMax: number): Answer {
  return errorAnswer(413, `The body is larger than ${bytesMax} bytes, which is the limit.`);
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
 * Reads the body of a request. If the route takes no body, up to `bytesMax` bytes of it are discarded. `kept`: accounts for the
 * memory that the body takes. `done` is called once.
 */
export function readBody(
  exchange: ServerExchange,
  wanted: BodyWanted,
  { bytesMax, kept }: { readonly bytesMax: number; readonly kept: KeptBytes },
  done: (read: BodyRead) => void,
): void {
  const isLengthKnown = exchange.head.framing.kind === 'length';
  exchange.receive(new BodyReading(wanted, { bytesMax, kept, isLengthKnown }, done));
}

class BodyReading implements BodyReceiver {
  readonly #wanted: BodyWanted;
  readonly #bytesMax: number;
  readonly #kept: KeptBytes;
  readonly #isLengthKnown: boolean;
  #gathered: GatheredBytes;
  #hasRoom = true;
  #done: ((read: BodyRead) => void) | undefined;
  #length = 0;

  constructor(
    wanted: BodyWanted,
    {
      bytesMax,
      kept,
      isLengthKnown,
    }: { readonly bytesMax: number; readonly kept: KeptBytes; readonly isLengthKnown: boolean },
    done: (read: BodyRead) => void,
  ) {
    this.#wanted = wanted;
    this.#bytesMax = bytesMax;
    this.#kept = kept;
    this.#isLengthKnown = isLengthKnown;
    this.#done = done;
    this.#gathered = new GatheredBytes(bytesMax);
  }

  data(bytes: Buffer): void {
    if (this.#done === undefined) return;
    this.#length += bytes.length;
    if (this.#length > this.#bytesMax)
      this.#finish({ kind: 'refused', answer: tooLargeAnswer(this.#bytesMax) });
    else if (this.#wanted.bodyKind === undefined) return;
    else if (!this.#hasRoom) return;
    else if (this.#kept.fits(this.#gathered.bytesWith(bytes))) this.#gathered.add(bytes);
    else this.#drop();
  }

  /** The rest of a body is discarded whose length is known. The connection of any other closes. */
  #drop(): void {
    this.#hasRoom = false;
    this.#gathered = new GatheredBytes(0);
    if (!this.#isLengthKnown) this.#finish({ kind: 'no-room' });
  }

  end(): void {
    if (this.#done === undefined) return;
    if (!this.#hasRoom) {
      this.#finish({ kind: 'no-room' });
      return;
    }
    const read = decodeBody(this.#wanted, this.#gathered.whole);
    if (read.kind === 'read') keepText(read.body, this.#kept);
    this.#finish(read);
  }

  /** The connection answers the request, or is closed. */
  broken(): void {
    this.#finish({ kind: 'over' });
  }

  #finish(read: BodyRead): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(read);
  }
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
