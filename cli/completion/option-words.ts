// The forms in which commands and options are written: what the scripts of all shells have to know.
import {
  type CommandDescription,
  type OptionDescription,
  subcommandWords,
} from '../description.ts';

/** The words that begin a command line. */
export function firstWords(commands: readonly CommandDescription[]): string[] {
  return commands.map(({ name }) => name).filter((name) => !name.includes(' '));
}

/** The names of two words: those of the sub-commands. */
export function namesOfTwo(commands: readonly CommandDescription[]): string[] {
  return commands.map(({ name }) => name).filter((name) => name.includes(' '));
}

/** The sub-commands of `command` that its own first word does not offer already. */
export function subcommandsBeside(
  { name, words }: CommandDescription,
  commands: readonly CommandDescription[],
): readonly string[] {
  const completes = words[0]?.completes;
  const offered = completes?.kind === 'choices' ? completes.choices : [];
  return subcommandWords(
    name,
    commands.map((command) => command.name),
  ).filter((word) => !offered.includes(word));
}

/** `['-o', '--output']` */
export function formsOf(name: string, { short }: OptionDescription): string[] {
  return [...(short === undefined ? [] : [`-${short}`]), `--${name}`];
}

/** The forms of all options that take the word after them, whichever command has them. */
export function formsWithValue(commands: readonly CommandDescription[]): string[] {
  const forms = commands.flatMap(({ options }) =>
    Object.entries(options)
      .filter(([, option]) => option.type === 'string')
      .flatMap(([name, option]) => formsOf(name, option)),
  );
  return [...new Set(forms)];
}

/** The first line is what a list has room for. */
export function shortHelp({ help }: OptionDescription): string {
  return help.split('\n')[0]!;
}
