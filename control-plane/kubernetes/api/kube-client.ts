// KubeClient: what the control plane asks of the API server of a Kubernetes cluster. It takes paths of the API and knows no kind of
// object; which objects exist, and who may be overwritten, its callers decide.
import { KubeError } from './kube-error.ts';
import { checkedObject, type KubeObject, versionOf } from './kube-object.ts';
import type { JsonObject, KubeRequest, KubeTransport } from './kube-transport.ts';

export interface ApplyOptions {
  /** True: fields that others manage are taken over. False: they are a KubeError with the reason `Conflict`. */
  readonly force: boolean;
  /** True: the server only checks what it would do. */
  readonly isDryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface ListOptions {
  readonly labelSelector?: string | undefined;
  /** Fields that the server selects by, such as `type=Warning`. */
  readonly fieldSelector?: string | undefined;
  /** True: the server leaves out all fields of the objects but their metadata. */
  readonly metadataOnly?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface ObjectList {
  readonly items: readonly KubeObject[];
  /** Version from which a watch goes on. */
  readonly version: string;
}

export interface DeleteOptions {
  /** Only the object with this identity; another one of the same name is a KubeError with the reason `Conflict`. */
  readonly uid?: string | undefined;
  /** Only this version of the object. */
  readonly resourceVersion?: string | undefined;
  /** Default: `Background`: what belongs to the object is deleted after it. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly signal?: AbortSignal | undefined;
}

/** Media types with which the server answers metadata alone. One that cannot do so answers whole objects. */
export const METADATA_LIST =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json';
export const METADATA =
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json';

const NOT_FOUND = 404;
const EXPIRED = 410;

export class KubeClient {
  readonly transport: KubeTransport;
  readonly #fieldManager: string;

  /** `fieldManager`: owner of the fields that are applied. */
  constructor(transport: KubeTransport, fieldManager: string) {
    this.transport = transport;
    this.#fieldManager = fieldManager;
  }

  /**
   * Creates or changes an object to have these fields, by server-side apply. Fields that were applied before and are missing now
   * are removed; those of others stay. Returns the object as it is then.
   */
  async apply(
    path: string,
    object: KubeObject,
    { force, isDryRun = false, signal }: ApplyOptions,
  ): Promise<KubeObject> {
    const query = {
      fieldManager: this.#fieldManager,
      force,
      dryRun: isDryRun ? 'All' : undefined,
    };
    const answer = await this.transport.send({
      method: 'PATCH',
      path,
      query,
      body: object,
      contentType: 'application/apply-patch+yaml',
      signal,
    });
    return checkedObject(answer, `the answer to an apply of ${path}`);
  }

  /** Creates an object, and returns it. `path`: that of all objects of its kind. One that exists is a KubeError with the reason `AlreadyExists`. */
  async create(path: string, object: KubeObject, signal?: AbortSignal): Promise<KubeObject> {
    const query = { fieldManager: this.#fieldManager };
    const answer = await this.transport.send({ method: 'POST', path, query, body: object, signal });
    return checkedObject(answer, `the answer to a create in ${path}`);
  }

  /** Returns an object; undefined: there is none. */
  get(path: string, signal?: AbortSignal): Promise<KubeObject | undefined> {
    return this.#get({ method: 'GET', path, signal });
  }

  /** Returns the metadata of an object, without the rest, such as the values of a secret; undefined: there is none. */
  getMetadata(path: string, signal?: AbortSignal): Promise<KubeObject | undefined> {
    return this.#get({ method: 'GET', path, accept: METADATA, signal });
  }

  async #get(sent: KubeRequest): Promise<KubeObject | undefined> {
    try {
      const answer = await this.transport.send(sent);
      return checkedObject(answer, sent.path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /**
   * Returns all objects of a path, page by page, and begins again if the pages have expired meanwhile. Rejects with KubeError, also if a page before the
   * last one is empty, or there are more of them than `listItemsMax` objects need.
   */
  async list(path: string, options: ListOptions = {}): Promise<ObjectList> {
    try {
      return await this.#pages(path, options);
    } catch (error) {
      if (!(error instanceof KubeError && error.status === EXPIRED)) throw error;
      return this.#pages(path, options);
    }
  }

  /** Deletes an object. Resolves with false if there is none. The object may exist for a while, with a `deletionTimestamp`. */
  async delete(path: string, options: DeleteOptions = {}): Promise<boolean> {
    const { uid, resourceVersion, propagation = 'Background', signal } = options;
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: propagation,
      ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    };
    try {
      await this.transport.send({ method: 'DELETE', path, body, signal });
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async #pages(path: string, options: ListOptions): Promise<ObjectList> {
    const { labelSelector, fieldSelector, metadataOnly = false, signal } = options;
    const { pageItems, pageBytesMax, listItemsMax } = this.transport.limits;
    const items: KubeObject[] = [];
    const pagesMax = Math.ceil(listItemsMax / pageItems) + 1;
    let following: string | undefined;
    for (let pages = 1; ; pages++) {
      const page = await this.transport.send({
        method: 'GET',
        path,
        query: { limit: pageItems, continue: following, labelSelector, fieldSelector },
        bytesMax: pageBytesMax,
        ...(metadataOnly ? { accept: METADATA_LIST } : {}),
        signal,
      });
      if (!Array.isArray(page['items']) && page['items'] !== null)
        throw new KubeError('invalid', `the list ${path} of the API server has no items`);
      const found = (page['items'] ?? []) as readonly unknown[];
      for (const item of found) items.push(checkedObject(item, `an item of the list ${path}`));
      const version = versionOf(page, `the list ${path}`);
      const next = (page['metadata'] as JsonObject)['continue'];
      if (typeof next !== 'string' || next === '') return { items, version };
      const isEndless = found.length === 0 || next === following || pages === pagesMax;
      if (isEndless || items.length >= listItemsMax)
        throw new KubeError('invalid', `the list ${path} of the API server does not end`);
      following = next;
    }
  }
}

/** A path that the server does not know at all is 404 without this reason, and no missing object. */
function isMissing(error: unknown): boolean {
  return error instanceof KubeError && error.status === NOT_FOUND && error.reason === 'NotFound';
}
