// svc, the command line: finds the command, runs it, and says what went wrong in one place.
import { EXIT_CODE, UsageError, type Command, type ExitCode } from './command.ts';
import { closest } from './suggestion.ts';
import { version } from './version.ts';

interface Entry {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** A command is loaded when it is asked for: what serves a module needs no compiler. */
  readonly load: () => Promise<Command>;
}

const commands: readonly Entry[] = [
  {
    name: 'build',
    summary: 'compile AssemblyScript to a component',
    load: async () => (await import('./commands/build.ts')).build,
  },
  {
    name: 'run',
    summary: 'serve a module: its routes, its entities, its journal',
    load: async () => (await import('./commands/run.ts')).run,
  },
  {
    name: 'inspect',
    summary: 'say what a module is, and whether the host admits it',
    load: async () => (await import('./commands/inspect.ts')).inspect,
  },
];

const overview = `svc runs sandboxed WebAssembly components with durable state.

Usage: svc COMMAND [ARGUMENT ...]

Commands:
${commands.map((command) => `  ${command.name.padEnd(9)} ${command.summary}`).join('\n')}

  svc COMMAND --help says more about one of them; svc --version prints the version.
`;

async function dispatch(args: readonly string[]): Promise<ExitCode> {
  const [word, ...rest] = args;
  if (word === '--version') {
    process.stdout.write(`${version}\n`);
    return EXIT_CODE.ok;
  }
  if (word === undefined || word === '--help' || word === '-h') {
    process.stdout.write(overview);
    return EXIT_CODE.ok;
  }
  const entry = commands.find((candidate) => candidate.name === word);
  if (entry === undefined) {
    const suggestion = closest(
      word,
      commands.map((candidate) => candidate.name),
    );
    throw new UsageError(
      `there is no command '${word}'.` +
        (suggestion === undefined ? '' : ` Did you mean '${suggestion}'?`) +
        ` svc --help lists them.`,
    );
  }
  const command = await entry.load();
  if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(command.help);
    return EXIT_CODE.ok;
  }
  return command.run(rest);
}

/** A coded failure of the host or of the build. */
function hasCode(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

try {
  process.exitCode = await dispatch(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`svc: ${error.message}\n`);
    process.exitCode = EXIT_CODE.usage;
  } else if (hasCode(error) && error.code.startsWith('SVC_')) {
    process.stderr.write(`svc: ${error.message} [${error.code}]\n`);
    process.exitCode = EXIT_CODE.failed;
  } else throw error;
}
