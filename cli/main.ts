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
  const [first, ...others] = args;
  // `svc help run` is `svc run --help`.
  const [word, ...rest] =
    first === 'help' && others[0] !== undefined ? [others[0], '--help'] : [first, ...others];
  if (word === '--version' || word === '-v' || word === 'version') {
    process.stdout.write(`${version}\n`);
    return EXIT_CODE.ok;
  }
  if (word === undefined || word === '--help' || word === '-h' || word === 'help') {
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

/** Such a failure is understood and explained; any other is a bug, and shows its stack. */
function hasCode(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

// Who read the output may be gone (`svc inspect … | head`): then there is nobody left to tell.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  process.exitCode = await dispatch(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`svc: ${error.message} [SVC_USAGE]\n`);
    process.exitCode = EXIT_CODE.usage;
  } else if (hasCode(error) && error.code.startsWith('SVC_')) {
    process.stderr.write(`svc: ${error.message} [${error.code}]\n`);
    process.exitCode = EXIT_CODE.failed;
  } else throw error;
}
