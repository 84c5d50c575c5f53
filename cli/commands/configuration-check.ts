// svc configuration check: judges the values of a module's configuration as the host does before it serves the module. No code of
// the module runs.
import { resolve } from 'node:path';
import { printable } from '@svc/kit/printable';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';
import { givenSource, PROCESS_OPTIONS, SOURCE_WORDS, withSources } from '../source-to-run.ts';
import { errorStyle, printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

export const configurationCheck = command(
  {
    name: 'configuration check',
    summary: 'say whether the values for a module are complete and valid',
    about: `Checks the values of a module's configuration as svc run does before it serves the module, and lists
all problems. No value is printed, and no code of the module runs. A process is asked for what it
declares.`,
    words: [{ name: 'MODULE.wasm', optional: true, completes: { kind: 'file', ending: '.wasm' } }],
    options: {
      file: { ...SERVICE_OPTIONS.configuration, help: 'the values, in YAML or JSON' },
      folder: SERVICE_OPTIONS['configuration-folder'],
      configure: SERVICE_OPTIONS.configure,
      ...PROCESS_OPTIONS,
    },
    notes:
      'Exits with 0 when the module could be served with the values, and with 1 when it could not.',
    examples: [
      'svc configuration check library.wasm --file library.yaml',
      'svc configuration check library.wasm --file library.yaml --folder /run/secrets/library',
      'svc configuration check --process 127.0.0.1:9010 --file library.yaml',
    ],
  },
  async ([module], { file, folder, configure, ...options }) => {
    const given = givenSource('configuration check', { module, ...options });
    if (given === undefined)
      throw new UsageError(
        'configuration check takes MODULE.wasm, --process ADDRESS or --process-command COMMAND.',
      );
    const tools = await import('@svc/host/tools');
    const descriptor = await withSources(
      tools,
      [given],
      [],
      async ([{ source }]) => source.descriptor,
    );
    const { problems, isUnreadable, warnings } = await tools.gatherConfiguration(
      {
        file: file === undefined ? undefined : resolve(file),
        folder: folder === undefined ? undefined : resolve(folder),
        assignments: configure,
      },
      descriptor,
    );
    for (const warning of warnings)
      process.stderr.write(`${errorStyle('yellow', 'warning')}: ${printable(warning)}\n`);
    if (problems.length > 0) {
      for (const problem of problems) process.stderr.write(`${printable(problem)}\n`);
      throw new CommandFailure(
        isUnreadable ? 'SVC_CONFIGURATION_UNREADABLE' : 'SVC_CONFIGURATION_INVALID',
        `The configuration has ${counted(problems.length, 'problem')}. Fix what is listed above.`,
      );
    }
    const none = descriptor.configuration === undefined;
    await printData(
      none
        ? `The ${SOURCE_WORDS[given.kind]} has no configuration.\n`
        : 'The configuration is complete and valid.\n',
    );
    return EXIT_CODE.ok;
  },
);
