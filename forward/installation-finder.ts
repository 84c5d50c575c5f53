// InstallationFinder: finds the services of an installation: by DNS, or in the file of a local orchestrator if there is one.
import type { LogFields } from '@svc/kit/log-entry';
import { DNS_FINDER_LIMITS, DnsFinder } from './dns-finder.ts';
import { SystemResolver } from './dns-resolver.ts';
import { FileFinder } from './file-finder.ts';
import type { ServiceFinder } from './service-finder.ts';

export interface InstallationFinderOptions {
  /** Project of `<service>` without a project. */
  readonly project: string;
  /** Absolute path of the file; undefined: services are found by DNS. */
  readonly servicesFile: string | undefined;
  /** Name servers, each an address or `ADDRESS:PORT`; absent or none: those of the system. */
  readonly nameServers?: readonly string[];
  /** Monotonic time in milliseconds. */
  readonly now: () => number;
  /** Receives a warning for the log. */
  readonly warn: (message: string, fields: LogFields) => void;
}

const FILE_LOOK_MS = 2000;
/** Time for one question to a name server, in milliseconds, and the number of attempts. */
const DNS_TIMEOUT_MS = 1000;
const DNS_TRIES = 2;

export function installationFinder({
  project,
  servicesFile,
  nameServers = [],
  now,
  warn,
}: InstallationFinderOptions): ServiceFinder {
  if (servicesFile !== undefined)
    return new FileFinder({
      file: servicesFile,
      project,
      lookEveryMs: FILE_LOOK_MS,
      now,
      onProblem: (reason) =>
        warn(`The file of services cannot be used: ${reason}`, { file: servicesFile }),
    });
  return new DnsFinder({
    resolver: new SystemResolver({
      timeoutMs: DNS_TIMEOUT_MS,
      tries: DNS_TRIES,
      servers: nameServers.length === 0 ? undefined : nameServers,
    }),
    project,
    limits: DNS_FINDER_LIMITS,
    now,
    random: Math.random,
    onFailure: ({ service, project: of }, reason) =>
      warn('The name server failed', { called: `${of}/${service}`, reason }),
  });
}
