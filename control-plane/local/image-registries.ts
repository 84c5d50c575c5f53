// ImageRegistries: the registries from which this machine reads images, with whose credentials, and which it refuses to ask.
//
// Invariants
// - An image of the installation's own registry is read for a service of the same project only: this machine may read all of them,
//   and would otherwise read those of others for anybody.
// - Its token goes to that registry and to nobody else.
// - Members read the messages, which name settings of the operator instead of files.
import { readFile } from 'node:fs/promises';
import { ImageError } from '@svc/oci/image-error';
import type { RegistryReference } from '@svc/oci/image-reference';
import type { ImageSource } from '@svc/oci/image-source';
import { RegistryClient } from '@svc/oci/registry-client';
import { type RegistryCredentials, readDockerConfig } from '@svc/oci/registry-credentials';
import { openRegistryImage } from '@svc/oci/registry-image';
import type { LocalSection } from './local-section.ts';
import { hostOfRegistry, type RegistrySettings } from './registry-settings.ts';

export type RegistryTimes = Pick<LocalSection, 'registryTimeoutMs' | 'registryAnswerTimeoutMs'>;

export class ImageRegistries {
  readonly #settings: RegistrySettings;
  readonly #times: RegistryTimes;

  constructor(settings: RegistrySettings, times: RegistryTimes) {
    this.#settings = settings;
    this.#times = times;
  }

  /**
   * Reads an image for a service of a project. `read`: what is done with the image, before its connections are closed. Rejects with
   * ImageError.
   */
  async read<Value>(
    reference: RegistryReference,
    project: string,
    { signal, read }: { signal: AbortSignal; read: (image: ImageSource) => Promise<Value> },
  ): Promise<Value> {
    const { authorityFile, privateHosts, platform } = this.#settings;
    if (hostOfRegistry(reference.host) === platform?.host) checkProject(reference, project);
    const { registryTimeoutMs, registryAnswerTimeoutMs } = this.#times;
    await using client = new RegistryClient({
      credentialsOf: async (host) => await this.#credentialsOf(host),
      mayBePrivate: (host) => privateHosts.has(host) || host === platform?.host,
      authority:
        authorityFile === undefined
          ? undefined
          : await textOf(authorityFile, 'svc.local.registry-authority'),
      limits: { totalTimeoutMs: registryTimeoutMs, answerTimeoutMs: registryAnswerTimeoutMs },
    });
    return await read(await openRegistryImage(reference, client, signal));
  }

  async #credentialsOf(host: string): Promise<RegistryCredentials | undefined> {
    const { credentialsFile, platform } = this.#settings;
    if (platform !== undefined && hostOfRegistry(host) === platform.host)
      return {
        kind: 'token',
        token: (await textOf(platform.tokenFile, 'svc.local.platform-registry-token')).trim(),
      };
    if (credentialsFile === undefined) return undefined;
    return (await readDockerConfig(credentialsFile, 'of svc.local.registry-credentials'))?.get(
      host,
    );
  }
}

/** The repositories of the installation's registry are `<project>/<service>`. */
function checkProject({ host, repository }: RegistryReference, project: string): void {
  if (repository.startsWith(`${project}/`)) return;
  throw new ImageError(
    'SVC_REGISTRY_REFUSED',
    `The registry ${host} gives the images of a project to its own services only, and ${repository} is not one of the project ${project}. ` +
      `Push the image as ${host}/${project}/NAME.`,
  );
}

async function textOf(file: string, setting: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ImageError(
      'SVC_REGISTRY_CREDENTIALS_INVALID',
      `The file that the setting ${setting} names cannot be read (${(error as NodeJS.ErrnoException).code}). The operator has to check it and its permissions.`,
      { cause: error },
    );
  }
}
