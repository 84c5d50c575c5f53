// CommandGroup: a word that only begins the names of commands, such as `org`.
import { didYouMean } from '@svc/contract/suggestion';
import type { Command } from './command.ts';
import { subcommandWords } from './description.ts';
import { UsageError } from './usage-error.ts';

/** Creates the group, which refuses to run with what the user may have meant. `names`: returns the names of all commands. */
export function commandGroup(
  name: string,
  summary: string,
  names: () => readonly string[],
): Command {
  return {
    description: {
      name,
      isGroup: true,
      summary: `${summary} (svc ${name} --help)`,
      about: `The commands to ${summary}.`,
      words: [],
      options: {},
      examples: [],
    },
    run([word]) {
      const words = subcommandWords(name, names());
      const found =
        word === undefined
          ? `${name} takes a command: ${words.join(', ')}.`
          : `there is no command '${name} ${word}'.${didYouMean(word, words)}`;
      return Promise.reject(new UsageError(`${found} svc ${name} --help lists them.`));
    },
  };
}
