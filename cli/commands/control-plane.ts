// svc control-plane: continues as the control plane, which reads the flags itself (control-plane/program/control-plane-settings.ts).
// The description here serves help, completion and suggestions, and a test compares it with the flags of the control plane.
import { fileURLToPath } from 'node:url';
import { checkOptions } from '../arguments.ts';
import type { Command, ExitCode } from '../command.ts';
import type { CommandDescription } from '../description.ts';
import { continueAs } from '../program-process.ts';
import { SERVICE_OPTIONS } from '../service-options.ts';

const description: CommandDescription = {
  name: 'control-plane',
  summary: 'serve the API for organizations, projects and services',
  about: `Serves the control plane of an installation until it is stopped, with a journal in its data folder.
Callers prove who they are with access tokens of an identity provider.`,
  words: [],
  options: {
    port: { ...SERVICE_OPTIONS.port, help: 'port of the API; 0 takes a free one', default: '7640' },
    host: SERVICE_OPTIONS.host,
    data: { ...SERVICE_OPTIONS.data, otherwise: '.svc/control-plane' },
    deployed: {
      type: 'boolean',
      help: `for a deployed control plane: logs json, has a management server,
and the console of this machine does not see it; by default the
journal is in /data`,
    },
    log: SERVICE_OPTIONS.log,
    set: SERVICE_OPTIONS.set,
  },
  notes: `It needs svc.auth.issuer and svc.auth.client-id (docs/reference/identity-provider.md), and
svc.control-plane.base-domain or svc.auth.audience. Every setting can also be given by the
environment: svc.auth.issuer is SVC_AUTH_ISSUER. Without TLS it listens on loopback only.`,
  examples: [
    String.raw`SVC_AUTH_ISSUER=https://id.example.org SVC_AUTH_CLIENT_ID=svc-cli \
  svc control-plane --set svc.control-plane.base-domain=example.org`,
  ],
};

/**
 * MiB of each half of the memory in which V8 creates objects. With its default of 16 the process is some 20 MiB larger; a request costs
 * up to a fifth less processor time then.
 */
const SEMI_SPACE_MIB = 4;
export const CONTROL_PLANE_NODE_OPTIONS = [`--max-semi-space-size=${SEMI_SPACE_MIB}`];

export const controlPlane: Command = {
  description,
  async run(args): Promise<ExitCode> {
    checkOptions(description, args);
    const main = fileURLToPath(import.meta.resolve('@svc/control-plane/main'));
    return continueAs(main, args, CONTROL_PLANE_NODE_OPTIONS);
  },
};
