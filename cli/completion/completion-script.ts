// The script with which a shell completes the command line, written from the commands' descriptions.
// It is static, but for the components of a journal: for those it asks `svc journal DIR -o names`.
import type { CommandDescription, Completion, OptionDescription } from '../description.ts';
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
  const help: CommandDescription = {
    name: 'help',
    summary: 'say how a command is used',
    about: '',
    words: [
      { name: 'COMMAND', completes: { kind: 'choices', choices: names } satisfies Completion },
    ],
    options: {},
    examples: [],
  };
  return WRITERS[shell]([...all, help]);
}
