// CoreAnswers: writes the answer of a call into the memory of a core module, as the canonical ABI lays it out.

export interface CoreRefusal {
  readonly code: number;
  readonly otherCode: string;
  readonly message: string;
  readonly details: string | undefined;
}

export type CallAnswer =
  | { readonly ok: string }
  | { readonly refused: CoreRefusal }
  | { readonly denied: string }
  | { readonly unavailable: string }
  | { readonly timedOut: true }
  | { readonly other: string };

/**
 * Writes a result<string, call-error>, of which a result<_, call-error> is the beginning. `view`: returns a view of the
 * memory as it is now. `put`: writes a text, and returns its pointer and length.
 */
export function putAnswer(
  answer: CallAnswer,
  at: number,
  view: () => DataView,
  put: (text: string) => readonly [number, number],
): void {
  const write = (offset: number, text: string): void => {
    const [from, length] = put(text);
    view().setUint32(at + offset, from, true);
    view().setUint32(at + offset + 4, length, true);
  };
  const tag = (offset: number, value: number): void => {
    view().setUint8(at + offset, value);
  };
  tag(0, 'ok' in answer ? 0 : 1);
  if ('ok' in answer) write(4, answer.ok);
  else if ('refused' in answer) {
    tag(4, 0);
    tag(8, answer.refused.code);
    write(12, answer.refused.otherCode);
    write(20, answer.refused.message);
    tag(28, answer.refused.details === undefined ? 0 : 1);
    write(32, answer.refused.details ?? '');
  } else if ('denied' in answer) {
    tag(4, 1);
    write(8, answer.denied);
  } else if ('unavailable' in answer) {
    tag(4, 2);
    write(8, answer.unavailable);
  } else if ('other' in answer) {
    tag(4, 4);
    write(8, answer.other);
  } else tag(4, 3);
}

/** Writes into the memory of a core module. */
export interface Lowering {
  /** Returns a view of the memory as it is now. */
  readonly view: () => DataView;
  /** Writes a text, and returns its pointer and length. */
  readonly put: (text: string) => readonly [number, number];
  readonly allocate: (align: number, bytes: number) => number;
}

/** Writes a result<list<recorded-event>, string>: the JSON texts of the events, or a text that says why there are none. */
export function putRecorded(
  events: string | readonly string[],
  at: number,
  { view, put, allocate }: Lowering,
): void {
  if (typeof events === 'string') {
    const [from, length] = put(events);
    view().setUint8(at, 1);
    view().setUint32(at + 4, from, true);
    view().setUint32(at + 8, length, true);
    return;
  }
  const list = allocate(8, events.length * 32);
  for (const [index, json] of events.entries()) {
    const words = [...put('manifest'), ...put(json)];
    view().setBigUint64(list + index * 32, BigInt(index + 1), true);
    view().setBigUint64(list + index * 32 + 8, BigInt(1000 + index), true);
    for (const [word, number] of words.entries())
      view().setUint32(list + index * 32 + 16 + word * 4, number, true);
  }
  view().setUint8(at, 0);
  view().setUint32(at + 4, list, true);
  view().setUint32(at + 8, events.length, true);
}
