// ProjectUsage: how much of its quota a project uses: bytes of blobs and of unfinished uploads, and manifests.
//
// Invariant: bytes are reserved before they are written, so that uploads at the same time do not exceed the quota together.
import { RegistryError } from './registry-error.ts';
import type { RegistrySection } from './registry-section.ts';

export type Quota = Pick<RegistrySection, 'projectBytesMax' | 'projectManifestsMax'>;

export class ProjectUsage {
  readonly #quota: Quota;
  #bytes: number;
  #manifests: number;

  constructor(quota: Quota, found: { readonly bytes: number; readonly manifests: number }) {
    this.#quota = quota;
    this.#bytes = found.bytes;
    this.#manifests = found.manifests;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get manifests(): number {
    return this.#manifests;
  }

  /** Throws DENIED if the project has not so many bytes left. */
  reserveBytes(count: number): void {
    const { projectBytesMax } = this.#quota;
    if (this.#bytes + count > projectBytesMax)
      throw new RegistryError(
        403,
        'DENIED',
        `the project's images may have ${projectBytesMax} bytes, and have ${this.#bytes}: delete images, or ask the operator for more (svc.registry.project-bytes-max)`,
      );
    this.#bytes += count;
  }

  releaseBytes(count: number): void {
    this.#bytes -= count;
  }

  /** Throws DENIED if the project has as many manifests as it may have. */
  reserveManifest(): void {
    const { projectManifestsMax } = this.#quota;
    if (this.#manifests >= projectManifestsMax)
      throw new RegistryError(
        403,
        'DENIED',
        `the project may have ${projectManifestsMax} manifests, and has them: delete images, or ask the operator for more (svc.registry.project-manifests-max)`,
      );
    this.#manifests += 1;
  }

  releaseManifest(): void {
    this.#manifests -= 1;
  }
}
