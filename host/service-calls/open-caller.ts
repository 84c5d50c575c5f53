// OpenCaller: makes the caller of a shard: on a developer's machine services are found by their registrations and connected
// in plain, in an installation by DNS or a file, with mutual TLS.
import { installationFinder } from '@svc/forward/installation-finder';
import { RegistrationFinder } from '@svc/forward/registration-finder';
import { MutualTlsConnector, PlainConnector } from '@svc/forward/service-connector';
import { notFound, type ServiceFinder } from '@svc/forward/service-finder';
import type { CertificateSource } from '@svc/identity/certificate-generations';
import { ClientTls } from '@svc/identity/client-tls';
import { CONNECTION_AGE, connectionTerm, endsOwnConnections } from '@svc/identity/connection-age';
import type { LogFields } from '@svc/kit/log-entry';
import type { CallSettings } from './call-settings.ts';
import { ServiceCaller } from './service-caller.ts';

/** The services that can be called. */
export type ServiceNetwork =
  | {
      readonly kind: 'local';
      /** Folder of registrations; undefined: there is none, and no service is found. */
      readonly runningFolder: string | undefined;
    }
  | {
      readonly kind: 'installation';
      /** The calling service's own project. */
      readonly project: string;
      readonly trustDomain: string;
      readonly certificates: CertificateSource;
      /** Absolute path of the file in which services are found; undefined: by DNS. */
      readonly servicesFile: string | undefined;
      /** Absolute path of the folder of the sockets at which services are called; undefined: they are called at their addresses. */
      readonly socketsFolder: string | undefined;
    };

export interface OpenCallerOptions {
  readonly network: ServiceNetwork;
  readonly settings: CallSettings;
  /** Receives a warning for the log. */
  readonly warn: (message: string, fields: LogFields) => void;
}

const NO_REGISTRATIONS: ServiceFinder = {
  find: async () => notFound('there is no folder in which services register'),
  close() {},
};

const now = (): number => performance.now();

export function openCaller({ network, settings, warn }: OpenCallerOptions): ServiceCaller {
  const onFailure = (called: string, reason: string): void =>
    warn('A service was not found or not reached', { called, reason });
  if (network.kind === 'local') {
    const { runningFolder: folder } = network;
    return new ServiceCaller({
      settings,
      finder: folder === undefined ? NO_REGISTRATIONS : new RegistrationFinder({ folder, now }),
      connector: (sweep) => new PlainConnector(settings.connectTimeoutMs, sweep),
      project: undefined,
      lifetimeMs: () => Infinity,
      onFailure,
    });
  }
  const { project, trustDomain, certificates, servicesFile, socketsFolder } = network;
  const tls = new ClientTls(certificates, settings.connectTimeoutMs);
  const caller = new ServiceCaller({
    settings,
    finder: installationFinder({ project, servicesFile, now, warn }),
    connector: () => new MutualTlsConnector(tls, trustDomain, socketsFolder),
    project,
    lifetimeMs: () => connectionTerm(0, 0, Math.random(), CONNECTION_AGE).closesAtMs,
    onFailure,
  });
  certificates.onGeneration((generation) => {
    if (endsOwnConnections(generation)) caller.retire();
  });
  return caller;
}
