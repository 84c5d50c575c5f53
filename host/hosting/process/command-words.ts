// CommandWords splits the line of a command into program and arguments, without a shell: spaces separate words, and quotes, single or
// double, keep the spaces between them. Nothing else has a meaning.

const WORD = /(?:[^\s'"]|'[^']*'|"[^"]*")+/g;
const QUOTED = /'([^']*)'|"([^"]*)"/g;

/** Returns program and arguments; undefined if the line has no program, or a quote that is not closed. */
export function commandWords(line: string): readonly [string, ...string[]] | undefined {
  const words = line.match(WORD) ?? [];
  const between = line.replaceAll(WORD, '');
  const [program, ...args] = words.map((word) =>
    word.replaceAll(QUOTED, (_, single?: string, double?: string) => single ?? double ?? ''),
  );
  if (program === undefined || program === '' || between.trim() !== '') return undefined;
  return [program, ...args];
}
