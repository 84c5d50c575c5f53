// Text of a module made fit for a message: a module's names may hold anything, and a message ends
// in a terminal, a log and a report.

/** Printable ASCII stays, everything else becomes `\u{…}`, and what is too long is cut with `…`. */
export function printable(text: string, lengthMax = 120): string {
  let result = '';
  for (const character of text) {
    if (result.length >= lengthMax) return `${result}…`;
    const code = character.codePointAt(0)!;
    if (character === '\\') result += '\\\\';
    else if (code >= 0x20 && code < 0x7f) result += character;
    else result += `\\u{${code.toString(16)}}`;
  }
  return result;
}
