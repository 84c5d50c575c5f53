// svc proxy: continues as the proxy of a web-hosted pod, which reads the flags itself (proxy/pod/proxy-settings.ts). The
// description here serves help, completion and suggestions, and a test compares it with the proxy's flags.
import { fileURLToPath } from 'node:url';
import { checkOptions } from '../arguments.ts';
import type { Command, ExitCode } from '../command.ts';
import type { CommandDescription } from '../description.ts';
import { continueAs } from '../program-process.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';

const description: CommandDescription = {
  name: 'proxy',
  summary: 'forward requests to the web server beside it in a pod',
  about: `Takes the requests of the gateway and of other services by mutual TLS, and passes them to the
process that listens on a port of the same pod; passes the process's own calls to other services.
Ends at SIGTERM, once the requests in flight are answered.`,
  words: [],
  options: {
    name: { type: 'string', value: 'NAME', help: 'name of the service' },
    project: { type: 'string', value: 'ID', help: 'project of the service' },
    port: {
      type: 'string',
      value: 'PORT',
      help: 'port for requests, with mutual TLS',
      default: '9000',
    },
    'process-port': {
      type: 'string',
      value: 'PORT',
      help: 'port of 127.0.0.1 on which the process listens',
      default: '8080',
    },
    log: {
      type: 'string',
      value: 'FORMAT',
      help: "'text' or 'json'",
      otherwise: 'text on a terminal, json elsewhere',
      completes: { kind: 'choices', choices: ['text', 'json'] },
    },
    set: SERVICE_OPTIONS.set,
  },
  notes: `It needs certificates and the settings svc.identity.* (docs/reference/identity.md). Every
setting can also be given by the environment: svc.proxy.mounts is SVC_PROXY_MOUNTS.`,
  examples: ['svc proxy --name web --project shop --set svc.proxy.mounts=/cart=cart'],
};

export const proxy: Command = {
  description,
  async run(args): Promise<ExitCode> {
    checkOptions(description, args);
    return continueAs(fileURLToPath(import.meta.resolve('@svc/proxy/main')), args);
  },
};
