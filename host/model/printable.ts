// Printable: text of a module, a caller or a file made fit for a log, a terminal or a report. It is the
// one place that says which characters are harmful: controls (C0, DEL, C1), line separators, lone
// surrogates, and all that Unicode calls a format character: what turns the direction of text, what has
// no width, the byte order mark, tags. They are shown by their number, and nothing else is changed.

const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** On one line; each harmful character as `\u{…}`. */
export function printable(text: string): string {
  return text.replaceAll(HARMFUL, escapedCharacter);
}

/** JSON text that shows no harmful character and is still the same JSON; line feeds between its parts stay. */
export function printableJson(json: string): string {
  return json.replaceAll(HARMFUL, (character) => {
    if (character === '\n') return character;
    let units = '';
    for (let index = 0; index < character.length; index++)
      units += String.raw`\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
    return units;
  });
}

/** The form in which a character is shown that is not shown itself. */
export function escapedCharacter(character: string): string {
  return String.raw`\u{${character.codePointAt(0)!.toString(16)}}`;
}
