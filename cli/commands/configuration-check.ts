// svc configuration check: judges the values of a module's configuration as the host does before it serves the module. No code of
// the module runs.
import { resolve } from 'node:path';
import { printable } from '@svc/kit/printable';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';
import { errorStyle, printData } from '../terminal.ts';

export const configurationCheck = command(
  {
    name: 'configuration check',
    summary: 'say whether the values for a module are complete and valid',
    about: `Checks the values of a module's configuration as svc run does before it serves the module, and lists
all problems. No value is printed, and no code of the module runs.`,
    words: [{ name: 'MODULE.wasm', completes: { kind: 'file', ending: '.wasm' } }],
    options: {
      file: { ...SERVICE_OPTIONS.configuration, help: 'the values, in YAML or JSON' },
      folder: SERVICE_OPTIONS['configuration-folder'],
      configure: SERVICE_OPTIONS.configure,
    },
    notes:
      'Exits with 0 when the module could be served with the values, and with 1 when it could not.',
    examples: [
      'svc configuration check library.wasm --file library.yaml',
      'svc configuration check library.wasm --file library.yaml --folder /run/secrets/library',
    ],
  },
  async ([module], { file, folder, configure }) => {
    const { admitFileToRun, gatherConfiguration } = await import('@svc/host/tools');
    const { source } = await admitFileToRun(module!, [], {});
    const { descriptor } = source;
    const { problems, isUnreadable, warnings } = await gatherConfiguration(
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
      none ? 'The module has no configuration.\n' : 'The configuration is complete and valid.\n',
    );
    return EXIT_CODE.ok;
  },
);
