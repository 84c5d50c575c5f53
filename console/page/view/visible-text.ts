// Text of modules, journals and callers as it is shown: what a reader would not see, or would see in a wrong
// order, stands there as its code point. Pure; it becomes a text node, never markup.
import { HARMFUL_CHARACTERS, escapedCharacter } from '@svc/contract/harmful-character';

export const TEXT_SHOWN_MAX = 20_000;

/** Line feeds and tabs stay. */
export function visibleText(text: string): string {
  return text.replaceAll(HARMFUL_CHARACTERS, (character) =>
    character === '\n' || character === '\t' ? character : escapedCharacter(character),
  );
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
