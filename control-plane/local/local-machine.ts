// LocalMachine: what all services of this machine share: where their files are, how instances are started, who learns of changes.
import type { ServiceDescriptor, ServiceKey } from '@svc/client';
import type { CertificateTexts } from '@svc/identity/certificates';
import type { DesiredService } from '../orchestration/orchestrator.ts';
import type { InstanceAddress } from './instance-addresses.ts';
import type { InstanceCgroups } from './instance-cgroups.ts';
import type { InstanceFolder } from './instance-folder.ts';
import type { InstanceNotes } from './instance-notes.ts';
import type { LaunchCommand } from './launch-command.ts';
import type { LocalClock } from './local-clock.ts';
import type { LocalSection } from './local-section.ts';
import type { ReadinessProbes } from './readiness-probes.ts';
import type { RequestRoutes } from './request-routes.ts';
import type { RolloutSection } from './rollout-section.ts';
import type { Journals } from './service-databases.ts';
import type { ResolvedImage, ServiceRecords } from './service-record.ts';

/** The result of looking for an image. `isFinal`: asking again does not help, such as for a module that is refused. */
export type ImageResult =
  | { readonly kind: 'found'; readonly image: ResolvedImage }
  | { readonly kind: 'failed'; readonly reason: string; readonly isFinal: boolean };

/** The service that an image is for, and what it asks for. */
export interface ImageWish extends Pick<DesiredService, 'key' | 'descriptor'> {
  /** The digest that was found for this generation before; undefined: the name is resolved. */
  readonly digest?: string | undefined;
  /** The image of the generation before. */
  readonly former?: ResolvedImage | undefined;
}

export interface ImageSource {
  /** Finds which image the service names now, and has its module on disk. Rejects only when the signal is aborted. */
  resolve(desired: ImageWish, signal: AbortSignal): Promise<ImageResult>;
  /** Whether what was found before is still on disk, so that nobody has to be asked for it. */
  isKept(image: ResolvedImage): boolean;
}

/** Gives each instance the certificate by which it proves who it is. */
export interface InstanceIdentities {
  issueTo(key: ServiceKey): Promise<CertificateTexts>;
  /** Writes the identity into its folder, which is made. Throws the file system's error. */
  write(folder: string, identity: CertificateTexts): void;
}

export interface LocalMachine {
  readonly section: LocalSection;
  readonly rollout: RolloutSection;
  readonly clock: LocalClock;
  readonly records: ServiceRecords;
  readonly images: ImageSource;
  readonly routes: RequestRoutes;
  readonly notes: InstanceNotes;
  /** Undefined: instances have no identity. */
  readonly identities: InstanceIdentities | undefined;
  /** Undefined: the system limits no process. */
  readonly cgroups: InstanceCgroups | undefined;
  /** Folder with the folders of all instances (instance-folder.ts). */
  readonly instancesFolder: string;
  /** Folder of the sockets at which instances take calls (instance-sockets.ts); undefined: they have none. */
  readonly socketsFolder: string | undefined;
  commandOf(folder: InstanceFolder): LaunchCommand;
  /**
   * Returns why this installation does not start the service, in words for its members; undefined if it does. `imageRuntime`: the version of
   * svc in the label of the image, as far as it is known.
   */
  refusalOf(
    key: ServiceKey,
    descriptor: ServiceDescriptor,
    imageRuntime: string | undefined,
  ): string | undefined;
  readonly probes: ReadinessProbes;
  /** Returns a free address for an instance: `present`, if it is free. Rejects with SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE. */
  addressFor(descriptor: ServiceDescriptor, present?: InstanceAddress): Promise<InstanceAddress>;
  readonly journals: Journals;
  changed(key: ServiceKey): void;
  done(key: ServiceKey): void;
  reportFailure(key: ServiceKey, error: unknown): void;
}
