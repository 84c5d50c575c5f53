// The forms in which options are written: what the scripts of all shells have to know.
import type { CommandDescription, OptionDescription } from '../description.ts';

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
