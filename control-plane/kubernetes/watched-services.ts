// WatchedServices: which services may have changed, from one watch for each kind of object over all namespaces. It runs while somebody watches.
//
// Invariants
// W1  Whatever changes in an object of a service, the service is reported, also if the change fell between two watches: after a list, every service
//     that the list has or that was known before is reported.
// W2  A callback is not called once its watch was disposed of.
import type { Clock } from '@svc/kit/clock';
import { isProjectId, isServiceName, projectNamespace, type ServiceKey } from '@svc/client';
import type { KubeClient } from './api/kube-client.ts';
import type { KubeError } from './api/kube-error.ts';
import type { KubeObject } from './api/kube-object.ts';
import { ObjectWatch, type WatchLimits } from './api/object-watch.ts';
import {
  MANAGED_BY,
  MANAGED_BY_LABEL,
  PROJECT_LABEL,
  SERVICE_LABEL,
} from './manifests/object-names.ts';

export interface WatchedServicesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly limits: Partial<WatchLimits>;
  readonly onFailure: (error: KubeError) => void;
}

const WATCHED = ['/api/v1/pods', '/apis/apps/v1/deployments', '/apis/apps/v1/statefulsets'];

export class WatchedServices implements AsyncDisposable {
  readonly #options: WatchedServicesOptions;
  readonly #callbacks = new Set<(key: ServiceKey) => void>();
  #watches: readonly ObjectWatch[] = [];

  constructor(options: WatchedServicesOptions) {
    this.#options = options;
  }

  watch(changed: (key: ServiceKey) => void): Disposable {
    // Two watches may have the same function.
    const callback = (key: ServiceKey) => changed(key);
    this.#callbacks.add(callback);
    if (this.#watches.length === 0) this.#watches = WATCHED.map((path) => this.#open(path));
    return {
      [Symbol.dispose]: () => {
        this.#callbacks.delete(callback);
        if (this.#callbacks.size === 0) void this.#close();
      },
    };
  }

  /** Resolves once no request is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#callbacks.clear();
    await this.#close();
  }

  async #close(): Promise<void> {
    const watches = this.#watches;
    this.#watches = [];
    await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
  }

  #open(path: string): ObjectWatch {
    /** Services with objects, by the names of these. */
    let known = new Map<string, ServiceKey>();
    return new ObjectWatch({
      ...this.#options,
      path,
      labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}`,
      onList: (objects) => {
        const listed = new Map(objects.flatMap((object) => entryOf(object) ?? []));
        const keys = new Map(
          [...known.values(), ...listed.values()].map((key) => [textOf(key), key]),
        );
        known = listed;
        for (const key of keys.values()) this.#report(key);
      },
      onChange: (change, object) => {
        const [entry] = entryOf(object) ?? [];
        if (entry === undefined) return;
        if (change === 'DELETED') known.delete(entry[0]);
        else known.set(...entry);
        this.#report(entry[1]);
      },
    });
  }

  #report(key: ServiceKey): void {
    for (const callback of this.#callbacks) callback(key);
  }
}

/** Returns the name of an object and its service; undefined if its labels name none that the object could be of. */
function entryOf({ metadata }: KubeObject): readonly [[string, ServiceKey]] | undefined {
  const { namespace = '', name, labels } = metadata;
  const project = labels?.[PROJECT_LABEL] ?? '';
  const service = labels?.[SERVICE_LABEL] ?? '';
  if (!isProjectId(project) || !isServiceName(service)) return undefined;
  if (projectNamespace(project) !== namespace) return undefined;
  return [[`${namespace}/${name}`, { project, service }]];
}

function textOf({ project, service }: ServiceKey): string {
  return `${project}/${service}`;
}
