// MistypedName: the message for a name that a test has mistyped.
import { didYouMean } from '@svc/contract/suggestion';

/** Returns the end of a message, such as ` Did you mean 'add-item'? There are: add-item, check-out.` */
export function whatThereIs(word: string, names: readonly string[]): string {
  if (names.length === 0) return ' There is none.';
  return `${didYouMean(word, names)} There ${names.length === 1 ? 'is' : 'are'}: ${names.join(', ')}.`;
}
