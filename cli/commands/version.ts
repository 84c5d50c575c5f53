// svc version: prints the version of svc; as JSON, also the version of Node.
import { command, EXIT_CODE } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { version as svc } from '../version.ts';

export const version = command(
  {
    name: 'version',
    summary: 'print the version',
    about: 'Prints the version of svc; as JSON, also that of the Node it runs on.',
    words: [],
    options: { output: OUTPUT_OPTION },
    examples: ['svc version', 'svc version -o json'],
  },
  async (_words, { output }) => {
    process.stdout.write(
      output === 'json' ? `${JSON.stringify({ svc, node: process.versions.node })}\n` : `${svc}\n`,
    );
    return EXIT_CODE.ok;
  },
);
