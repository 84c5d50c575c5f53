// CoreServices: the import routing.request of a core module, which a function of the test answers.
import { type CallAnswer, type Lowering, putAnswer } from './core-answers.ts';

type Pair = readonly [name: string, value: string];

export interface CoreRequestSent {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly Pair[];
  readonly body: string;
}

export type CoreServiceAnswer =
  | {
      readonly status: number;
      readonly headers?: readonly Pair[];
      readonly body?: string | Uint8Array;
    }
  | Exclude<CallAnswer, { readonly ok: string }>;

/** Reads the request from the parameters of the import, and writes a result<response, call-error>. */
export function serveRequest(
  answer: ((sent: CoreRequestSent) => CoreServiceAnswer) | undefined,
  values: readonly number[],
  lowering: Lowering,
): void {
  const { view, put, allocate } = lowering;
  const numberAt = (index: number): number => values[index]!;
  const text = (from: number, units: number): string =>
    Buffer.from(view().buffer, from, units * 2).toString('utf16le');
  const word = (from: number): number => view().getUint32(from, true);
  const textAt = (from: number): string => text(word(from), word(from + 4));
  const at = numberAt(10);
  const outcome = answer?.({
    service: text(numberAt(0), numberAt(1)),
    method: text(numberAt(2), numberAt(3)),
    path: text(numberAt(4), numberAt(5)),
    headers: Array.from({ length: numberAt(7) }, (_, index): Pair => {
      const pair = numberAt(6) + index * 16;
      return [textAt(pair), textAt(pair + 8)];
    }),
    body: Buffer.from(view().buffer, numberAt(8), numberAt(9)).toString(),
  }) ?? { denied: 'no services' };
  if (!('status' in outcome)) return putAnswer(outcome, at, view, put);
  const { status, headers = [], body = '' } = outcome;
  const list = allocate(4, headers.length * 16);
  for (const [index, pair] of headers.entries())
    for (const [offset, value] of [...put(pair[0]), ...put(pair[1])].entries())
      view().setUint32(list + index * 16 + offset * 4, value, true);
  const bytes = Buffer.from(body);
  const from = allocate(1, bytes.length);
  Buffer.from(view().buffer).set(bytes, from);
  view().setUint8(at, 0);
  view().setUint16(at + 4, status, true);
  for (const [index, value] of [list, headers.length, from, bytes.length].entries())
    view().setUint32(at + 8 + index * 4, value, true);
}
