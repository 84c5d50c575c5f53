// Counted: a number with its noun, for a sentence.
import { numberText } from './progress-line.ts';

/** Returns a number and its noun, such as `1 entity` or `12,000 entities`. */
export function counted(number: number, one: string, several = `${one}s`): string {
  return `${numberText(number)} ${number === 1 ? one : several}`;
}
