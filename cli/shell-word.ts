// A command that is printed for a person to copy has each of its words in a form that a shell takes
// for that one word.

export function shellWord(text: string): string {
  return /^[A-Za-z0-9._/+:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
