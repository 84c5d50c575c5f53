// Text of a module or a caller, made fit for a message that ends in a log or on a terminal.

const SHOWN_MAX = 200;

/** In single quotes, on one line, without control characters, at most 200 UTF-16 units of it. */
export function quoted(text: string): string {
  let shown = '';
  for (const character of text.slice(0, SHOWN_MAX)) {
    const code = character.codePointAt(0) ?? 0;
    shown += isHarmless(code) ? character : `\\u{${code.toString(16)}}`;
  }
  return `'${shown}${text.length > SHOWN_MAX ? '…' : ''}'`;
}

/** Neither a control character, nor a line separator, nor one that turns the writing direction. */
function isHarmless(code: number): boolean {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return false;
  if (code >= 0xd800 && code <= 0xdfff) return false;
  return !(
    code === 0x61c ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    code === 0xfeff
  );
}
