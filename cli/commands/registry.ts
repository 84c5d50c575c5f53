// svc registry: continues as the registry, which reads the flags itself (registry/registry-settings.ts). The description here serves
// help, completion and suggestions, and a test compares it with the flags of the registry.
import { fileURLToPath } from 'node:url';
import { checkOptions } from '../arguments.ts';
import type { Command, ExitCode } from '../command.ts';
import type { CommandDescription } from '../description.ts';
import { continueAs } from '../program-process.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';

const description: CommandDescription = {
  name: 'registry',
  summary: "keep the images of an installation's projects",
  about: `Serves a registry of images (OCI distribution) until it is stopped. Members of a project push and
pull with their access tokens, which the control plane judges for each request. It listens on
loopback only, and the gateway serves it as registry. of the base domain.`,
  words: [],
  options: {
    'control-plane': {
      type: 'string',
      value: 'URL',
      help: 'control plane that says who may use a project',
    },
    port: {
      ...SERVICE_OPTIONS.port,
      help: 'port to listen on; 0 takes a free one',
      default: '7642',
    },
    host: { ...SERVICE_OPTIONS.host, help: 'loopback address to listen on' },
    data: {
      ...SERVICE_OPTIONS.data,
      help: 'folder of all images',
      otherwise: '.svc/registry',
    },
    log: SERVICE_OPTIONS.log,
    set: SERVICE_OPTIONS.set,
  },
  notes: `Every setting can also be given by the environment: svc.registry.pull-token-file is
SVC_REGISTRY_PULL_TOKEN_FILE.`,
  examples: ['svc registry --control-plane http://127.0.0.1:7640 --data /var/lib/svc/registry'],
};

export const registry: Command = {
  description,
  async run(args): Promise<ExitCode> {
    checkOptions(description, args);
    return continueAs(fileURLToPath(import.meta.resolve('@svc/registry/main')), args);
  },
};
