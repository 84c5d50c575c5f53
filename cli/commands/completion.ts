// svc completion: prints the script with which a shell completes the command line.
import { command, EXIT_CODE, type Command } from '../command.ts';
import { completionScript, SHELLS, type Shell } from '../completion/completion-script.ts';

/** Creates the command. `loadCommands`: loads all commands, including this one. */
export function completion(loadCommands: () => Promise<readonly Command[]>): Command {
  return command(
    {
      name: 'completion',
      summary: 'print the script that makes a shell complete svc',
      about: `Prints a script with which bash, zsh or fish completes commands, options, their values and files.`,
      words: [{ name: 'SHELL', completes: { kind: 'choices', choices: SHELLS } }],
      options: {},
      notes: `Where it goes:
  bash   source <(svc completion bash)         in ~/.bashrc
  zsh    source <(svc completion zsh)          in ~/.zshrc, after compinit
  fish   svc completion fish | source          in ~/.config/fish/config.fish`,
      examples: ['source <(svc completion bash)'],
    },
    async ([shell]) => {
      const commands = await loadCommands();
      process.stdout.write(
        completionScript(
          shell as Shell,
          commands.map(({ description }) => description),
        ),
      );
      return EXIT_CODE.ok;
    },
  );
}
