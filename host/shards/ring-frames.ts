// RingFrames encodes the common frames between shards for their shared memory (frame-ring.ts): calls and their
// replies, requests and their responses. All shards run one module, so a handler is encoded as its index. A write
// method returns false for a frame that is too long, has characters of more than one byte, has a body of bytes or one that
// was not read, names an unknown handler, or does not fit into the free memory. Such a frame is encoded by frame.ts; such a request is not
// sent.
import type { HandlerTable } from '@svc/model/handler-table';
import type { Metadata } from '@svc/model/call';
import type { Body, EndpointRequest, EndpointResponse } from '@svc/model/endpoint';
import type { ForwardedCall, FrameReader, RequestCost } from './frame.ts';
import type { FrameRingReader, FrameRingWriter } from './frame-ring.ts';

const KIND = { call: 0, reply: 1, request: 2, response: 3 } as const;
/** Kinds of bodies that a frame here can have, indexed by their number; a body of bytes is not among them. */
const BODY_KINDS = ['none', 'json', 'text'] as const;
/** Values of the word before an idempotency key; the text of an absent key is empty. */
const ABSENT = 0;
const PRESENT = 1;
/** Number of values of a word; fuel is written as two words. */
const WORD = 0x1_0000_0000;

type Pairs = readonly (readonly [name: string, value: string])[];

export class RingFrames {
  readonly #handlerTable: HandlerTable;
  readonly #outgoing: FrameRingWriter;
  readonly #incoming: FrameRingReader;

  constructor(handlerTable: HandlerTable, outgoing: FrameRingWriter, incoming: FrameRingReader) {
    this.#handlerTable = handlerTable;
    this.#outgoing = outgoing;
    this.#incoming = incoming;
  }

  writeCall(number: number, [target, name, input, metadata, key]: ForwardedCall): boolean {
    const handlerIndex = this.#handlerTable.indexOf(target.component, name);
    if (handlerIndex === undefined) return false;
    const out = this.#outgoing;
    const units = target.id.length + input.length + (key?.length ?? 0) + pairUnits(metadata);
    if (!out.begin(8 + 2 * metadata.length, units)) return false;
    out.word(KIND.call);
    out.word(number);
    out.word(handlerIndex);
    out.text(target.id);
    out.text(input);
    this.#writeKey(key);
    this.#writePairs(metadata);
    return out.end();
  }

  writeReply(number: number, json: string): boolean {
    const out = this.#outgoing;
    if (!out.begin(3, json.length)) return false;
    out.word(KIND.reply);
    out.word(number);
    out.text(json);
    return out.end();
  }

  writeRequest(number: number, request: EndpointRequest, metadata: Metadata): boolean {
    const { route, parameters, query, headers, caller, body, idempotencyKey: key } = request;
    if (body.kind === 'bytes' || body.kind === 'unread') return false;
    const text = body.kind === 'none' ? '' : body.text;
    let units = query.length + caller.length + text.length + (key?.length ?? 0);
    for (const parameter of parameters) units += parameter.length;
    units += pairUnits(headers) + pairUnits(metadata);
    const words = 12 + parameters.length + 2 * headers.length + 2 * metadata.length;
    const out = this.#outgoing;
    if (!out.begin(words, units)) return false;
    out.word(KIND.request);
    out.word(number);
    out.word(route);
    out.word(parameters.length);
    for (const parameter of parameters) out.text(parameter);
    out.text(query);
    this.#writePairs(headers);
    out.text(caller);
    out.word(BODY_KINDS.indexOf(body.kind));
    out.text(text);
    this.#writeKey(key);
    this.#writePairs(metadata);
    return out.end();
  }

  writeResponse(number: number, response: EndpointResponse, cost: RequestCost): boolean {
    const { status, headers, body } = response;
    if (body.kind === 'bytes') return false;
    const text = body.kind === 'none' ? '' : body.text;
    const out = this.#outgoing;
    if (!out.begin(9 + 2 * headers.length, text.length + pairUnits(headers))) return false;
    out.word(KIND.response);
    out.word(number);
    out.word(Math.floor(cost.fuel / WORD));
    out.word(cost.fuel % WORD);
    out.word(cost.wasMisrouted ? 1 : 0);
    out.word(status);
    this.#writePairs(headers);
    out.word(BODY_KINDS.indexOf(body.kind));
    out.text(text);
    return out.end();
  }

  /** Calls the reader with each new frame. Returns false if there was none. */
  read(reader: FrameReader): boolean {
    const incoming = this.#incoming;
    if (!incoming.look()) return false;
    while (incoming.next()) {
      const kind = incoming.word();
      const number = incoming.word();
      if (kind === KIND.call) this.#readCall(number, reader);
      else if (kind === KIND.reply)
        reader.outcome(number, { kind: 'reply', json: incoming.text() });
      else if (kind === KIND.request) this.#readRequest(number, reader);
      else this.#readResponse(number, reader);
    }
    return true;
  }

  #readCall(number: number, reader: FrameReader): void {
    const incoming = this.#incoming;
    const { component, handler } = this.#handlerTable.handlers[incoming.word()]!;
    const target = { component, id: incoming.text() };
    const input = incoming.text();
    const key = this.#readKey();
    reader.call(number, [target, handler, input, this.#readPairs(), key]);
  }

  #readRequest(number: number, reader: FrameReader): void {
    const incoming = this.#incoming;
    const route = incoming.word();
    const parameters: string[] = [];
    for (let left = incoming.word(); left > 0; left--) parameters.push(incoming.text());
    const query = incoming.text();
    const headers = this.#readPairs();
    const caller = incoming.text();
    const body = this.#readBody();
    const idempotencyKey = this.#readKey();
    const request = { route, parameters, query, headers, caller, body, idempotencyKey };
    reader.request(number, request, this.#readPairs());
  }

  #readResponse(number: number, reader: FrameReader): void {
    const incoming = this.#incoming;
    const fuel = incoming.word() * WORD + (incoming.word() >>> 0);
    reader.cost(number, { fuel, wasMisrouted: incoming.word() === 1 });
    const status = incoming.word();
    const headers = this.#readPairs();
    reader.outcome(number, { kind: 'response', status, headers, body: this.#readBody() });
  }

  #readBody(): Body {
    const kind = BODY_KINDS[this.#incoming.word()]!;
    const text = this.#incoming.text();
    return kind === 'none' ? { kind } : { kind, text };
  }

  #writeKey(key: string | undefined): void {
    this.#outgoing.word(key === undefined ? ABSENT : PRESENT);
    this.#outgoing.text(key ?? '');
  }

  #readKey(): string | undefined {
    const isPresent = this.#incoming.word() === PRESENT;
    const key = this.#incoming.text();
    return isPresent ? key : undefined;
  }

  #writePairs(pairs: Pairs): void {
    this.#outgoing.word(pairs.length);
    for (const [name, value] of pairs) {
      this.#outgoing.text(name);
      this.#outgoing.text(value);
    }
  }

  #readPairs(): [string, string][] {
    const pairs: [string, string][] = [];
    for (let left = this.#incoming.word(); left > 0; left--)
      pairs.push([this.#incoming.text(), this.#incoming.text()]);
    return pairs;
  }
}

function pairUnits(pairs: Pairs): number {
  let units = 0;
  for (const [name, value] of pairs) units += name.length + value.length;
  return units;
}
