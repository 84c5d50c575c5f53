// Http1Target: whatever the bytes are, a reader makes the same of them however they are split, which is what the reference
// makes of them, and what it accepts is the same request when it is written and read again.
//
// An input is one byte that says how large the pieces are, and the bytes of requests.
import { encodeRequestHead, encodeTrailers } from '../../../http1/index.ts';
import {
  type ReadMessage,
  bytesOf,
  corpusCases,
  readRequests,
  readResponses,
} from '../http1/corpus.ts';
import { referenceRequests } from '../http1/reference-requests.ts';
import { type FuzzTarget, demand, havoc } from './fuzz-target.ts';

/** Within all limits of a reader, of which the reference knows nothing. */
const BYTES_MAX = 4000;
const SEEDS = ['request-lines.json', 'targets.json', 'hosts.json', 'fields.json', 'framing.json']
  .concat('chunks.json', 'status-lines.json', 'response-framing.json')
  .flatMap(corpusCases)
  .map(({ in: input }) => bytesOf(input))
  .filter(({ length }) => length > 0 && length < BYTES_MAX / 2);

export const http1Target: FuzzTarget = {
  name: 'http1',
  covers: '/http1/',
  fresh: (random) =>
    Uint8Array.of(
      random.below(256),
      ...havoc(random, Buffer.concat([random.pick(SEEDS), random.pick(SEEDS)])),
    ),
  mutated: (random, input, other) =>
    random.chance(80)
      ? havoc(random, input)
      : Buffer.concat([
          input.subarray(0, random.below(input.length + 1)),
          other.subarray(random.below(other.length + 1)),
        ]),
  run(input) {
    const bytes = Buffer.from(input.subarray(1, 1 + BYTES_MAX));
    const read = readRequests([bytes]);
    const pieces = [...piecesOf(bytes, 1 + (input[0] ?? 0))];
    demand(same(readRequests(pieces), read), 'requests are the same at every split');
    for (const method of ['GET', 'HEAD'])
      demand(
        same(readResponses([{ method, pieces }]), readResponses([{ method, pieces: [bytes] }])),
        'responses are the same at every split',
      );
    const accepted = read.filter(({ fails }) => fails === undefined);
    const { messages, isClean } = referenceRequests(bytes.toString('latin1'));
    demand(same(accepted.map(comparable), messages), 'the reference accepts the same requests');
    demand((accepted.length === read.length) === isClean, 'the reference refuses the same bytes');
    for (const one of accepted)
      demand(same(readRequests(written(one)), [one]), 'a request is the same when written again');
  },
};

function* piecesOf(bytes: Buffer, size: number): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const same = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right);

/** The properties that the reference knows, in its order. */
function comparable({ method, target, authority, fields, body, trailers }: ReadMessage): unknown {
  return { method, target, authority, fields, body, trailers };
}

/** The bytes of a request, with its body as one chunk if it was chunked. */
function written({ method, target, version, fields, framing, body, trailers }: ReadMessage) {
  const head = encodeRequestHead(
    method as string,
    target as string,
    version as '1.0' | '1.1',
    fields as readonly string[],
  );
  const bytes = Buffer.from(body, 'latin1');
  if (framing !== 'chunked') return [head, bytes];
  const chunk = body === '' ? '' : `${bytes.length.toString(16)}\r\n${body}\r\n`;
  return [head, Buffer.from(chunk, 'latin1'), encodeTrailers(trailers)];
}
