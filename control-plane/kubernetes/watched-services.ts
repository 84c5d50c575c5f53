// WatchedServices: which services may have changed, from one watch for each kind of object over all namespaces. It runs while somebody watches.
//
// Rights: `list` and `watch` of every kind in WATCHED_KINDS, of PodDisruptionBudgets, and of the custom resource of databases if there is one, in all
// namespaces. Secrets are neither listed nor watched. The server is asked for metadata alone.
//
// Invariants
// W1  Whatever changes in an object of a service, the service is reported, also if the change fell between two watches: each watch begins with a list,
//     and every object that the list has in another version than the watch before, or lacks, is reported.
// W2  A callback is not called once its watch was disposed of.
// W3  `isLive` is true only while a watch of every kind is live, so what has changed before is reported. It is false while it is not known whether the
//     server has databases. A kind that the server does not have does not count: there is no object of it.
import type { Clock } from '@svc/kit/clock';
import { isProjectId, isServiceName, projectNamespace, type ServiceKey } from '@svc/client';
import { WorkloadRefused } from '../orchestration/orchestrator.ts';
import type { KubeClient } from './api/kube-client.ts';
import type { KubeError } from './api/kube-error.ts';
import type { KubeObject } from './api/kube-object.ts';
import { ObjectWatch, type WatchLimits } from './api/object-watch.ts';
import { transportError } from './api/transport-error.ts';
import {
  MANAGED_BY,
  MANAGED_BY_LABEL,
  PROJECT_LABEL,
  SERVICE_LABEL,
} from './manifests/object-names.ts';
import { objectPath } from './object-state.ts';

/** An object of a service that has changed. */
export interface SeenObject {
  readonly project: string;
  /** Undefined: the object concerns every service of the project. */
  readonly service: string | undefined;
  readonly kind: WatchedKind;
  readonly path: string;
  /** Undefined: it does not exist any more. */
  readonly object: KubeObject | undefined;
}

export interface WatchedKind {
  /** Path of all objects of the kind. */
  readonly collection: string;
  /** Whether an observation of a service rests on these objects. */
  readonly isObserved: boolean;
  /** Whether an apply writes these objects. */
  readonly isApplied: boolean;
}

export interface WatchedServicesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Default of `watchMs`: WATCH_MS. */
  readonly limits: Partial<WatchLimits>;
  /** Version of the API with PodDisruptionBudget. */
  readonly disruptionBudgets: string;
  /** Returns the path of all databases that the cluster makes, and rejects with WorkloadRefused if it has no such kind; absent: it makes none. */
  readonly databases?: ((signal: AbortSignal) => Promise<string>) | undefined;
  readonly onChange: (seen: SeenObject) => void;
  readonly onFailure: (error: KubeError) => void;
}

const WATCHED_KINDS: readonly WatchedKind[] = [
  { collection: '/api/v1/pods', isObserved: true, isApplied: false },
  { collection: '/apis/apps/v1/deployments', isObserved: true, isApplied: true },
  { collection: '/apis/apps/v1/statefulsets', isObserved: true, isApplied: true },
  appliedKind('/api/v1/namespaces'),
  appliedKind('/api/v1/services'),
  appliedKind('/apis/networking.k8s.io/v1/networkpolicies'),
  appliedKind('/apis/networking.k8s.io/v1/ingresses'),
];
/**
 * Time of a watch, and so the time in which a change is found that a watch leaves out. It is shorter than the time for which a watch may be silent, since
 * API servers of old versions send no bookmarks for a kind of which nothing has changed since their start.
 */
const WATCH_MS = 110_000;
/** Pause until the server is asked again whether it has databases. */
const DATABASES_PAUSE_MS = 60_000;

interface Owner {
  readonly project: string;
  readonly service: string | undefined;
}

interface KnownObject extends Owner {
  readonly version: string | undefined;
}

export class WatchedServices implements AsyncDisposable {
  readonly #options: WatchedServicesOptions;
  readonly #callbacks = new Set<(key: ServiceKey) => void>();
  #open: OpenWatches | undefined;

  constructor(options: WatchedServicesOptions) {
    this.#options = options;
  }

  /** Whether the server says now what changes of every kind. */
  get isLive(): boolean {
    return this.#open?.isLive ?? false;
  }

  watch(changed: (key: ServiceKey) => void): Disposable {
    // Two watches may have the same function.
    const callback = (key: ServiceKey) => changed(key);
    this.#callbacks.add(callback);
    this.#open ??= new OpenWatches(this.#options, (key) => {
      for (const each of this.#callbacks) each(key);
    });
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
    const open = this.#open;
    this.#open = undefined;
    await open?.[Symbol.asyncDispose]();
  }
}

/** The watches from the first caller to the last one. */
class OpenWatches implements AsyncDisposable {
  readonly #options: WatchedServicesOptions;
  readonly #report: (key: ServiceKey) => void;
  readonly #stopping = new AbortController();
  /** Objects by their paths, of each kind. */
  readonly #known = new Map<WatchedKind, Map<string, KnownObject>>();
  readonly #watches: ObjectWatch[] = [];
  /** Whether every kind has a watch that the server is known to have. */
  #isWhole: boolean;
  #cancelPause = () => {};

  constructor(options: WatchedServicesOptions, report: (key: ServiceKey) => void) {
    this.#options = options;
    this.#report = report;
    this.#isWhole = options.databases === undefined;
    const budgets = appliedKind(`/apis/${options.disruptionBudgets}/poddisruptionbudgets`);
    for (const kind of [...WATCHED_KINDS, budgets]) this.#add(kind);
    void this.#addDatabases();
  }

  get isLive(): boolean {
    return this.#isWhole && this.#watches.every((watch) => watch.isLive);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#cancelPause();
    await Promise.all(this.#watches.map((watch) => watch[Symbol.asyncDispose]()));
  }

  /** Never rejects. */
  async #addDatabases(): Promise<void> {
    const { databases, clock, onFailure } = this.#options;
    const { signal } = this.#stopping;
    try {
      const collection = await databases?.(signal);
      if (collection === undefined || signal.aborted) return;
      this.#add(appliedKind(collection));
      this.#isWhole = true;
    } catch (error) {
      if (signal.aborted) return;
      this.#isWhole = error instanceof WorkloadRefused;
      onFailure(transportError(error));
      this.#cancelPause = clock.after(DATABASES_PAUSE_MS, () => void this.#addDatabases());
    }
  }

  #add(kind: WatchedKind): void {
    const { client, clock, limits, onFailure } = this.#options;
    const known = new Map<string, KnownObject>();
    this.#known.set(kind, known);
    const watch = new ObjectWatch({
      client,
      clock,
      limits: { watchMs: WATCH_MS, ...limits },
      onFailure,
      path: kind.collection,
      labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}`,
      metadataOnly: true,
      isListedAnew: true,
      onList: (objects) => {
        const listed = new Set<string>();
        for (const object of objects) listed.add(this.#see(kind, object));
        for (const [path, owner] of known) if (!listed.has(path)) this.#forget(kind, path, owner);
      },
      onChange: (change, object) => {
        if (change !== 'DELETED') this.#see(kind, object);
        else {
          const owner = ownerOf(object);
          const path = objectPath(kind.collection, object);
          if (owner !== undefined) this.#forget(kind, path, owner);
        }
      },
    });
    this.#watches.push(watch);
  }

  /** Returns the path of the object. */
  #see(kind: WatchedKind, object: KubeObject): string {
    const path = objectPath(kind.collection, object);
    const owner = ownerOf(object);
    const known = this.#known.get(kind)!;
    const before = known.get(path);
    // Its labels may have changed.
    if (before !== undefined && !isSame(before, owner)) this.#forget(kind, path, before);
    const version = object.metadata.resourceVersion;
    const isNew = before === undefined || before.version !== version || !isSame(before, owner);
    if (owner === undefined || !isNew) return path;
    known.set(path, { ...owner, version });
    this.#changed({ ...owner, kind, path, object });
    return path;
  }

  #forget(kind: WatchedKind, path: string, { project, service }: Owner): void {
    this.#known.get(kind)!.delete(path);
    this.#changed({ project, service, kind, path, object: undefined });
  }

  #changed(seen: SeenObject): void {
    this.#options.onChange(seen);
    const { project, service } = seen;
    if (service === undefined) for (const key of this.#servicesOf(project)) this.#report(key);
    else this.#report({ project, service });
  }

  #servicesOf(project: string): readonly ServiceKey[] {
    const names = new Set<string>();
    for (const known of this.#known.values())
      for (const one of known.values())
        if (one.project === project && one.service !== undefined) names.add(one.service);
    return [...names].map((service) => ({ project, service }));
  }
}

function isSame(one: Owner, other: Owner | undefined): boolean {
  return one.project === other?.project && one.service === other.service;
}

function appliedKind(collection: string): WatchedKind {
  return { collection, isObserved: false, isApplied: true };
}

/** Returns what an object is of; undefined if its labels name nothing that the object could be of. */
function ownerOf({ metadata }: KubeObject): Owner | undefined {
  const { namespace, name, labels } = metadata;
  const project = labels?.[PROJECT_LABEL] ?? '';
  const service = labels?.[SERVICE_LABEL] ?? '';
  if (!isProjectId(project) || projectNamespace(project) !== (namespace ?? name)) return undefined;
  if (namespace === undefined) return { project, service: undefined };
  return isServiceName(service) ? { project, service } : undefined;
}
