// svc gateway: continues as the gateway, which reads the flags itself (gateway/gateway-settings.ts). The description here serves help,
// completion and suggestions, and a test compares it with the gateway's flags.
import { fileURLToPath } from 'node:url';
import { checkOptions } from '../arguments.ts';
import type { Command, ExitCode } from '../command.ts';
import type { CommandDescription } from '../description.ts';
import { continueAs } from '../program-process.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';

const description: CommandDescription = {
  name: 'gateway',
  summary: 'serve the hostnames of exposed services with TLS',
  about: `Takes the requests of the internet with TLS, and passes each to an instance of the service that is
exposed at its hostname, or to the platform. It follows the routes of an orchestrator, and serves on
without it. Ends at SIGTERM, once the requests in flight are answered.`,
  words: [],
  options: {
    'base-domain': {
      type: 'string',
      value: 'DOMAIN',
      help: 'domain of derived hostnames, with a port if it is not 443',
    },
    certificates: {
      type: 'string',
      value: 'FOLDER',
      help: 'folder with NAME.crt and NAME.key of each certificate',
    },
    host: { ...SERVICE_OPTIONS.host, help: 'address to listen on', default: '0.0.0.0' },
    port: {
      ...SERVICE_OPTIONS.port,
      help: 'port with TLS; 0 takes a free one',
      default: '8443',
    },
    'plain-port': {
      type: 'string',
      value: 'PORT',
      help: 'port that redirects to the one with TLS; 0: none',
      default: '8080',
    },
    log: SERVICE_OPTIONS.log,
    set: SERVICE_OPTIONS.set,
  },
  notes: `It needs the settings svc.gateway.routes-socket or svc.gateway.routes-file, and svc.identity.folder.
Every setting can also be given by the environment: svc.gateway.api-url is SVC_GATEWAY_API_URL.`,
  examples: ['svc gateway --base-domain example.com --certificates /etc/svc/certificates'],
};

export const gateway: Command = {
  description,
  async run(args): Promise<ExitCode> {
    checkOptions(description, args);
    return continueAs(fileURLToPath(import.meta.resolve('@svc/gateway/main')), args);
  },
};
