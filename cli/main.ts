// Main: the program of the command line: the arguments of the process, its streams and its exit code.
import { EXIT_CODE } from './command.ts';
import { runCommandLine } from './command-line.ts';
import { errorStyle } from './terminal.ts';

// A closed standard error does not end the command.
process.stderr.on('error', () => {});
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // The reader of the output has closed it (`svc inspect … | head`).
  if (code === 'EPIPE') return;
  process.exitCode = EXIT_CODE.failed;
  process.stderr.write(`${errorStyle(['red', 'bold'], 'svc:')} the output was lost (${code})\n`);
});

const code = await runCommandLine(process.argv.slice(2));
process.exitCode ??= code;
