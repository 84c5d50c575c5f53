// ResourcePaths: where the API has an object. Kinds of the API itself are known; that of the database is the operator's, and the server says
// under which segment it has it.
import { WorkloadRefused } from '../orchestration/orchestrator.ts';
import { type KubeClient } from './api/kube-client.ts';
import { KubeError } from './api/kube-error.ts';
import type { JsonObject } from './api/kube-transport.ts';
import { type ObjectReference, pathOf } from './manifests/manifest.ts';

const NOT_FOUND = 404;
const BUILT_IN = /^(?:v1|apps\/v1|policy\/v1(?:beta1)?|networking\.k8s\.io\/v1)$/;

export class ResourcePaths {
  readonly #client: KubeClient;
  /** Segments by API version and kind. */
  readonly #found = new Map<string, string>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Rejects with WorkloadRefused if the server has no such kind, and with KubeError if it cannot be asked. */
  async pathOf(reference: ObjectReference, signal: AbortSignal): Promise<string> {
    const { apiVersion, kind } = reference;
    if (BUILT_IN.test(apiVersion)) return pathOf(reference);
    const id = `${apiVersion} ${kind}`;
    const segment = this.#found.get(id) ?? (await this.#segmentOf(apiVersion, kind, signal));
    this.#found.set(id, segment);
    return pathOf(reference, segment);
  }

  /** Returns the path of all objects of a kind. Rejects like `pathOf`. */
  async collectionOf(
    { apiVersion, kind }: Pick<ObjectReference, 'apiVersion' | 'kind'>,
    signal: AbortSignal,
  ): Promise<string> {
    const path = await this.pathOf({ apiVersion, kind, metadata: { name: '' } }, signal);
    return path.slice(0, path.lastIndexOf('/'));
  }

  async #segmentOf(apiVersion: string, kind: string, signal: AbortSignal): Promise<string> {
    const answer = await this.#listed(apiVersion, signal);
    const resources = (answer?.['resources'] ?? []) as readonly {
      readonly name: string;
      readonly kind: string;
    }[];
    // Further resources of a kind are parts of it, such as `clusters/status`.
    const found = resources.find((one) => one.kind === kind && !one.name.includes('/'));
    if (found === undefined)
      throw new WorkloadRefused(
        `the cluster has no kind ${kind} of ${apiVersion}, by which it makes the databases of services: the operator of this installation has to install what brings it`,
      );
    return found.name;
  }

  /** Returns the kinds of a version of the API; undefined: the server does not have it. */
  async #listed(apiVersion: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    try {
      const path = `/apis/${apiVersion}`;
      return await this.#client.transport.send({ method: 'GET', path, signal });
    } catch (error) {
      if (error instanceof KubeError && error.status === NOT_FOUND) return undefined;
      throw error;
    }
  }
}
