// VisibleText: text of modules, journals and callers for display. Characters that are invisible or change the order
// of the text are replaced by their code points. The functions are pure; the result becomes a text node, never
// markup.
import { HARMFUL_CHARACTERS, escapedCharacter } from '@svc/contract/harmful-character';

/** Maximum length of a text that is displayed whole, in UTF-16 code units. */
export const TEXT_SHOWN_MAX = 20_000;

/** Escapes harmful characters, except line feeds and tabs. */
export function visibleText(text: string): string {
  return text.replaceAll(HARMFUL_CHARACTERS, (character) =>
    character === '\n' || character === '\t' ? character : escapedCharacter(character),
  );
}

/** Escapes harmful characters, including line feeds and tabs. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

export function isCut(text: string): boolean {
  return text.length > TEXT_SHOWN_MAX;
}

export function cutText(text: string): string {
  return isCut(text) ? `${text.slice(0, TEXT_SHOWN_MAX)}…` : text;
}
