// Running a command line: finds the command, runs it, and reports its failure.
import { existsSync } from 'node:fs';
import { EXIT_CODE, type ExitCode } from './command.ts';
import { COMMAND_NAMES, findCommand, loadAllCommands } from './command-list.ts';
import { subcommandWords } from './description.ts';
import { closest, didYouMean } from '@svc/contract/suggestion';
import { printable } from '@svc/kit/printable';
import { printableLines } from './printable.ts';
import { errorStyle } from './terminal.ts';
import { UsageError } from './usage-error.ts';
import { version } from './version.ts';

/** Exit codes of failures that have one of their own. */
const EXIT_CODES: Readonly<Record<string, ExitCode>> = {
  SVC_NOT_LOGGED_IN: EXIT_CODE.notLoggedIn,
  SVC_DEPLOY_UNFINISHED: EXIT_CODE.stillDeploying,
};

/**
 * Runs the command that the arguments name. Its output goes to the process's streams, as does the message of a failure. Resolves
 * with the exit code; never rejects.
 */
export async function runCommandLine(args: readonly string[]): Promise<ExitCode> {
  try {
    return await dispatch(args);
  } catch (error) {
    return report(error);
  }
}

async function dispatch(args: readonly string[]): Promise<ExitCode> {
  const isHelp = args[0] === 'help' && args.length > 1;
  const words = isHelp ? args.slice(1) : args;
  const [word] = words;
  if (word === undefined || word === '--help' || word === '-h' || word === 'help') {
    const { overviewOf } = await import('./help.ts');
    const commands = await loadAllCommands();
    process.stdout.write(overviewOf(commands.map(({ description }) => description)));
    return EXIT_CODE.ok;
  }
  const found = await findCommand(
    word === '--version' || word === '-v' ? ['version', ...words.slice(1)] : words,
  );
  const subcommands = subcommandWords(word, COMMAND_NAMES);
  if (found === undefined && subcommands.length > 0)
    throw new UsageError(
      `svc ${word} is followed by ${subcommands.join(', ')}; svc ${word} ${subcommands[0]} --help says more.`,
    );
  if (found === undefined)
    throw new UsageError(
      `there is no command '${word}'.` +
        didYouMean(word, [...COMMAND_NAMES, 'help', '--help', '--version']) +
        ' svc --help lists them.',
    );
  const { command, args: rest } = found;
  if (command.description.isGroup !== true) checkSubcommand(command.description.name, rest[0]);
  const end = rest.indexOf('--');
  const options = end < 0 ? rest : rest.slice(0, end);
  // `svc help run` equals `svc run --help`.
  if (isHelp || options.includes('--help') || options.includes('-h')) {
    const { groupHelpOf, helpOf } = await import('./help.ts');
    const all = command.description.isGroup === true ? await loadAllCommands() : [];
    const descriptions = all.map(({ description }) => description);
    process.stdout.write(
      command.description.isGroup === true
        ? groupHelpOf(command.description, descriptions)
        : helpOf(command.description, COMMAND_NAMES),
    );
    return EXIT_CODE.ok;
  }
  return command.run(rest);
}

/** Throws UsageError for an argument that looks like a mistyped sub-command and is no existing file or folder. */
function checkSubcommand(name: string, word: string | undefined): void {
  if (word === undefined || !/^\w+$/.test(word)) return;
  const meant = closest(word, subcommandWords(name, COMMAND_NAMES));
  if (meant === undefined || existsSync(word)) return;
  throw new UsageError(
    `there is no command '${name} ${word}'. Did you mean '${name} ${meant}'? ` +
      `A folder of that name is ./${word}, and svc ${name} --help says more.`,
  );
}

/** Returns whether a failure has a code: one of svc (`SVC_…`) or of Node. A failure without svc's code is a bug. */
function hasCode(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

/** Prints a failure, and returns the exit code. */
function report(error: unknown): ExitCode {
  const prefix = errorStyle(['red', 'bold'], 'svc:');
  if (error instanceof UsageError) {
    process.stderr.write(`${prefix} ${printable(error.message)} [SVC_USAGE]\n`);
    return EXIT_CODE.usage;
  }
  if (hasCode(error) && error.code.startsWith('SVC_')) {
    process.stderr.write(`${prefix} ${printable(error.message)} [${error.code}]\n`);
    if (process.stderr.isTTY)
      process.stderr.write(`${errorStyle('dim', `     svc explain ${error.code} says more.`)}\n`);
    return EXIT_CODES[error.code] ?? EXIT_CODE.failed;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `${prefix} this is a bug in svc ${version}, not in what you gave it. Please report these lines:\n` +
      `node ${process.version}, ${process.platform} ${process.arch}\n${printableLines(stack)}\n`,
  );
  return EXIT_CODE.failed;
}
