// ShellWord: quotes an argument of a printed command where necessary, so that a shell reads the argument as one word
// when the user copies the command.

export function shellWord(text: string): string {
  return /^[A-Za-z0-9._/+:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
