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
