// svc run: continues as the host, which reads the flags itself (host/service/settings.ts). The description here serves help,
// completion and suggestions, and a test compares it with the host's flags.
import { fileURLToPath } from 'node:url';
import { checkOptions } from '../arguments.ts';
import type { Command, ExitCode } from '../command.ts';
import type { CommandDescription } from '../description.ts';
import { continueAs } from '../program-process.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';

const host = fileURLToPath(import.meta.resolve('@svc/host/main'));

const description: CommandDescription = {
  name: 'run',
  summary: 'serve a module: its routes, its entities, its journal',
  about: 'Serves a module until it is stopped by ctrl-c or SIGTERM.',
  words: [{ name: 'MODULE.wasm', optional: true, completes: { kind: 'file', ending: '.wasm' } }],
  options: {
    port: SERVICE_OPTIONS.port,
    host: SERVICE_OPTIONS.host,
    cors: SERVICE_OPTIONS.cors,
    data: { ...SERVICE_OPTIONS.data, otherwise: '.svc/NAME' },
    name: { ...SERVICE_OPTIONS.name, otherwise: "the module file's name" },
    log: SERVICE_OPTIONS.log,
    configuration: SERVICE_OPTIONS.configuration,
    'configuration-folder': SERVICE_OPTIONS['configuration-folder'],
    configure: SERVICE_OPTIONS.configure,
    process: {
      type: 'string',
      value: 'ADDRESS',
      help: `serves the code of a process that listens at this address of
the machine, such as 127.0.0.1:9010, in place of a module; the
process has no sandbox`,
    },
    'process-command': SERVICE_OPTIONS['process-command'],
    shards: {
      type: 'string',
      value: 'COUNT',
      help: 'threads for the entities',
      otherwise: '1; deployed: one a core',
    },
    'ignore-components': {
      type: 'string',
      value: 'NAMES',
      help: `components, separated by commas, that the module no longer
has, on purpose: their events in the journal are ignored`,
    },
    deployed: {
      type: 'boolean',
      help: `for a deployed instance: listens on every address, treats every
caller as one from the internet, logs json; by default the module
is /service/module.wasm, and the journal is in /data`,
    },
    standby: {
      type: 'boolean',
      help: `gets ready, and waits until no other process uses the data
folder; then it serves`,
    },
    'development-tokens': SERVICE_OPTIONS['development-tokens'],
    set: SERVICE_OPTIONS.set,
  },
  notes: `Every setting can also be given by the environment: svc.http.port is SVC_HTTP_PORT.
The log goes to stderr; once the service listens, its address goes to stdout.`,
  examples: [
    'svc run shopping-cart.wasm',
    'svc run shopping-cart.wasm --port 0 --data /var/lib/carts --set svc.http.answer-timeout-ms=5000',
    'svc run --process 127.0.0.1:9010 --name shopping-cart',
    "svc run --process-command 'python3 main.py' --name shopping-cart",
    'svc run --deployed',
  ],
};

export const run: Command = {
  description,
  async run(args): Promise<ExitCode> {
    checkOptions(description, args);
    return continueAs(host, args);
  },
};
