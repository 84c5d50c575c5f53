// svc login-provider: continues as the login provider, which reads the flags itself (login-provider/login-provider-settings.ts). The
// description here serves help, completion and suggestions, and a test compares it with the flags of the login provider.
import { fileURLToPath } from 'node:url';
import { checkOptions } from '../arguments.ts';
import type { Command, ExitCode } from '../command.ts';
import type { CommandDescription } from '../description.ts';
import { continueAs } from '../program-process.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';

const description: CommandDescription = {
  name: 'login-provider',
  summary: 'let people log in without a password, for development only',
  about: `Serves an OpenID Connect provider for a control plane on this machine until it is stopped. People
who log in choose who to be from a file, so it listens on loopback only.`,
  words: [],
  options: {
    people: {
      type: 'string',
      value: 'FILE',
      help: 'people and machines that can log in, in YAML or JSON',
    },
    audience: {
      type: 'string',
      value: 'URI',
      help: 'audience of access tokens, as svc.auth.audience has it',
    },
    port: {
      ...SERVICE_OPTIONS.port,
      help: 'port to listen on; 0 takes a free one',
      default: '7641',
    },
    host: { ...SERVICE_OPTIONS.host, help: 'loopback address to listen on' },
    data: {
      ...SERVICE_OPTIONS.data,
      help: 'folder of its keys',
      otherwise: '.svc/login-provider',
    },
    log: SERVICE_OPTIONS.log,
    set: SERVICE_OPTIONS.set,
  },
  notes: `Keys are kept across restarts, so access tokens remain good; people log in again. Every setting
can also be given by the environment: svc.login-provider.issuer is SVC_LOGIN_PROVIDER_ISSUER.`,
  examples: ['svc login-provider --people people.yaml --audience https://api.svc.localhost'],
};

export const loginProvider: Command = {
  description,
  async run(args): Promise<ExitCode> {
    checkOptions(description, args);
    return continueAs(fileURLToPath(import.meta.resolve('@svc/login-provider/main')), args);
  },
};
