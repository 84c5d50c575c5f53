// CreateService creates and starts the service of a program (embedded-service.ts).
import { createEmbeddedGuest } from '@svc/components/embedded-guest';
import { programFingerprint } from '@svc/components/program-fingerprint';
import { refuseWhileLoading } from '../hosting/program/loading-mark.ts';
import { introspectionSettings } from './embedded-introspection.ts';
import { checkOptions, type Service, type ServiceOptions } from './embedded-options.ts';
import { EmbeddedService } from './embedded-service.ts';
import { readServiceSettings } from './embedded-settings.ts';
import { EmbeddedStorage } from './embedded-storage.ts';
import type { EnvironmentOptions } from './environment-options.ts';

/**
 * Runs the components. Rejects with SVC_DEFINITION_INVALID, SVC_SETTING_INVALID, and the errors of opening the
 * journal, the certificate and the addresses: SVC_CERTIFICATE_…, SVC_DATA_UNUSABLE, SVC_DATA_IN_USE, SVC_DISK_FULL, SVC_JOURNAL_…,
 * SVC_MANIFEST_UNREADABLE, SVC_PORT_IN_USE, SVC_ADDRESS_UNAVAILABLE. Rejects with SVC_PROGRAM_INVALID where a tool
 * loads the program for its components. With `deployed: 'environment'` such an error ends the process instead, with the exit code
 * of `svc run`.
 */
export async function createService(
  options: ServiceOptions | EnvironmentOptions,
): Promise<Service> {
  refuseWhileLoading();
  if (options.deployed === 'environment') {
    // A program on a developer's machine does not load this code.
    const { serveFromEnvironment } = await import('./deployed-program.ts');
    return serveFromEnvironment(options);
  }
  checkOptions(options);
  const sections = readServiceSettings(options.settings ?? {});
  const storage = new EmbeddedStorage(options, sections);
  const introspection = introspectionSettings(options, sections, storage.location !== undefined);
  const guest = createEmbeddedGuest(options, options.responses);
  const fingerprint = programFingerprint(guest);
  const parts = { sections, guest, storage, fingerprint, introspection };
  const service = new EmbeddedService(options, parts);
  try {
    await service.start();
    return service;
  } catch (error) {
    // The error of the start is reported, rather than one of the stop.
    await service.stop(0).catch(() => {});
    throw error;
  }
}
