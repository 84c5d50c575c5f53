// OptionWords: the spellings of commands and options, which the scripts of all shells share.
import {
  type CommandDescription,
  type OptionDescription,
  subcommandWords,
} from '../description.ts';

/** Returns the words that can begin a command line. */
export function firstWords(commands: readonly CommandDescription[]): string[] {
  return commands.map(({ name }) => name).filter((name) => !name.includes(' '));
}

/** Returns the names of the sub-commands, which have two words. */
export function namesOfTwo(commands: readonly CommandDescription[]): string[] {
  return commands.map(({ name }) => name).filter((name) => name.includes(' '));
}

/** Returns the names of the commands that take another command line behind `--`. */
export function namesWithCommandLine(commands: readonly CommandDescription[]): string[] {
  return commands.filter(({ behind }) => behind !== undefined).map(({ name }) => name);
}

/** Returns the sub-commands of `command` that are not already choices of its own first word. */
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

/** Returns the spellings of an option: `['-o', '--output']`. */
export function formsOf(name: string, { short }: OptionDescription): string[] {
  return [...(short === undefined ? [] : [`-${short}`]), `--${name}`];
}

/** Returns the spellings of all options that take a value as the next word, in any command. */
export function formsWithValue(commands: readonly CommandDescription[]): string[] {
  const forms = commands.flatMap(({ options }) =>
    Object.entries(options)
      .filter(([, option]) => option.type === 'string')
      .flatMap(([name, option]) => formsOf(name, option)),
  );
  return [...new Set(forms)];
}

/** Returns the first line of an option's help, for lists. */
export function shortHelp({ help }: OptionDescription): string {
  return help.split('\n')[0]!;
}
