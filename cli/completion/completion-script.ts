// CompletionScript: writes the script with which a shell completes the command line, from the commands' descriptions.
// The script is static, except that it calls `svc journal DIR -o names` for the components of a journal, and `svc project list -o names`
// and its like for what an installation has.
import {
  type CommandDescription,
  type Completion,
  type OptionDescription,
  subcommandWords,
} from '../description.ts';
import { bashScript } from './bash-script.ts';
import { fishScript } from './fish-script.ts';
import { zshScript } from './zsh-script.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const HELP: OptionDescription = { type: 'boolean', short: 'h', help: 'say how it is used' };
const WRITERS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export function completionScript(shell: Shell, commands: readonly CommandDescription[]): string {
  const all = commands.map((command) => ({
    ...command,
    options: { ...command.options, help: HELP },
  }));
  const names = commands.map(({ name }) => name);
  const helps = names
    .filter((name) => subcommandWords(name, names).length > 0)
    .map((name) => helpOf(`help ${name}`, subcommandWords(name, names)));
  return WRITERS[shell]([
    ...all,
    helpOf(
      'help',
      names.filter((name) => !name.includes(' ')),
    ),
    ...helps,
  ]);
}

/**
 * Creates the description of `help`, which is not one of the commands; after `help journal` come the sub-commands of
 * `journal`.
 */
function helpOf(name: string, words: readonly string[]): CommandDescription {
  const completes: Completion = { kind: 'choices', choices: words };
  return {
    name,
    summary: 'say how a command is used',
    about: '',
    words: [{ name: 'COMMAND', completes }],
    options: {},
    examples: [],
  };
}
