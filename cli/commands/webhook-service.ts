// svc webhook-service: continues as the webhook service, which reads the flags itself (webhooks/program/webhooks-settings.ts). The
// description here serves help, completion and suggestions, and a test compares it with the flags of the service.
import { fileURLToPath } from 'node:url';
import { checkOptions } from '../arguments.ts';
import type { Command, ExitCode } from '../command.ts';
import type { CommandDescription } from '../description.ts';
import { continueAs } from '../program-process.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';

const description: CommandDescription = {
  name: 'webhook-service',
  summary: 'deliver webhooks to the receivers of tenants',
  about: `Serves the API of webhooks until it is stopped, and delivers signed events to the subscriptions of
tenants, with retries and a log of thirty days. Callers prove who they are with access tokens of an
identity provider.`,
  words: [],
  options: {
    port: { ...SERVICE_OPTIONS.port, help: 'port of the API; 0 takes a free one', default: '7643' },
    host: SERVICE_OPTIONS.host,
    data: {
      ...SERVICE_OPTIONS.data,
      help: 'folder of the journals, made when missing',
      otherwise: '.svc/webhook-service',
    },
    deployed: {
      type: 'boolean',
      help: `for a deployed service: logs json, has a management server, needs
svc.webhooks.master-key-file, and the console of this machine does
not see it; by default the journals are in /data`,
    },
    log: SERVICE_OPTIONS.log,
    set: SERVICE_OPTIONS.set,
  },
  notes: `It needs svc.auth.issuer, svc.auth.client-id and svc.auth.audience
(docs/reference/identity-provider.md). Every setting can also be given by the environment:
svc.auth.issuer is SVC_AUTH_ISSUER. Without TLS it listens on loopback only.`,
  examples: [
    String.raw`SVC_AUTH_ISSUER=https://id.example.org SVC_AUTH_CLIENT_ID=svc-cli \
  svc webhook-service --set svc.auth.audience=https://api.example.org`,
  ],
};

export const webhookService: Command = {
  description,
  async run(args): Promise<ExitCode> {
    checkOptions(description, args);
    return continueAs(fileURLToPath(import.meta.resolve('@svc/webhooks/main')), args);
  },
};
