// Text of modules, journals and callers as it is shown: what a reader would not see, or would see in a wrong
// order, stands there as its code point. Pure; it becomes a text node, never markup.

/** Control characters but line feed and tab, marks of writing direction, lone surrogates. */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex -- these are what it is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/gu;

export const TEXT_SHOWN_MAX = 20_000;

export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, (unit) => `\\u{${unit.codePointAt(0)!.toString(16)}}`);
}

/** On one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

export function isCut(text: string): boolean {
  return text.length > TEXT_SHOWN_MAX;
}

export function cutText(text: string): string {
  return isCut(text) ? `${text.slice(0, TEXT_SHOWN_MAX)}…` : text;
}
