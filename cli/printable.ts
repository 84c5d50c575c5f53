// Text from outside (a module, a journal, a path) made fit for a terminal: none of it is a command to it.

/** C0, DEL, C1, line separators, and what turns the direction of text. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Each control character as `\u{…}`. */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(CONTROLS, (character) => String.raw`\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** As `printable`, line by line. */
export function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => printable(line))
    .join('\n');
}

/** JSON text fit for a terminal, and still the same JSON: such a character can only stand in a string. */
export function printableJson(json: string): string {
  return json
    .toWellFormed()
    .replaceAll(CONTROLS, (character) =>
      character === '\n'
        ? character
        : String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}
