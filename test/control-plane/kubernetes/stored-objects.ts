// StoredObjects answers as an API server that stores what is applied, without any controller, and serves watches. It stands for the requests of a
// driver, not for what a cluster makes of them: the tests with a real API server do that.
import type { ServerResponse } from 'node:http';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import type { JsonObject } from '../../../control-plane/kubernetes/api/kube-transport.ts';
import {
  answerJson,
  type ReceivedRequest,
  ScriptedApi,
  statusObject,
} from '../../support/kubernetes/scripted-api.ts';

interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}

export class StoredObjects implements AsyncDisposable {
  readonly api: ScriptedApi;
  /** The objects that are stored, by their paths. */
  readonly objects: Map<string, KubeObject>;
  /** Answers that a test gives to requests, such as `PATCH /api/v1/namespaces/svc-shop`. */
  readonly refusals: Map<string, Refusal>;

  /** The answer to every request but watches. */
  refuseAll: Refusal | undefined;
  /** Called before each answer. */
  onRequest: () => void = () => undefined;
  /** Path whose requests are not answered. */
  silentPath: string | undefined;
  /** True: watches stay open and leave out what changes. */
  leavesOutChanges = false;
  /** False: no controller takes up what is applied. */
  hasControllers = true;
  readonly #watches = new Map<string, Set<ServerResponse>>();

  private constructor(
    api: ScriptedApi,
    objects: Map<string, KubeObject>,
    refusals: Map<string, Refusal>,
  ) {
    this.api = api;
    this.objects = objects;
    this.refusals = refusals;
  }

  static async start(): Promise<StoredObjects> {
    const objects = new Map<string, KubeObject>();
    const refusals = new Map<string, Refusal>();
    let stored: StoredObjects | undefined;
    const api = await ScriptedApi.start((request, response) => {
      stored?.onRequest();
      if (request.query['watch'] === 'true') {
        stored!.#open(request.path, response);
        return;
      }
      if (request.path === stored?.silentPath) return;
      const refusal = stored?.refuseAll ?? refusals.get(`${request.method} ${request.path}`);
      const at = pathOfObject(request);
      const before = objects.get(at);
      if (refusal === undefined) answer(objects, request, response, stored?.hasControllers ?? true);
      else
        answerJson(
          response,
          refusal.status,
          statusObject(refusal.status, refusal.reason, refusal.message),
        );
      if (objects.get(at) !== before) stored!.#send(at, before);
    });
    stored = new StoredObjects(api, objects, refusals);
    return stored;
  }

  /** Requests since the last call, without those of watches, such as `GET /api/v1/pods`. */
  takeRequests(): readonly string[] {
    return this.api.requests
      .splice(0)
      .filter(({ query }) => query['watch'] !== 'true')
      .map(({ method, path }) => `${method} ${path}`);
  }

  /** Requests since the last call that change something. */
  takeWrites(): readonly string[] {
    return this.takeRequests().filter((request) => !request.startsWith('GET '));
  }

  /** Changes or removes an object as someone else does. */
  change(path: string, object: KubeObject | undefined): void {
    const before = this.objects.get(path);
    if (object === undefined) this.objects.delete(path);
    else this.objects.set(path, versioned(object, before));
    this.#send(path, before);
  }

  /** Changes the status of an object as its controller does: its generation stays. */
  changeStatus(path: string, status: JsonObject): void {
    const before = this.objects.get(path)!;
    const metadata = { ...before.metadata, resourceVersion: String(++versions) };
    this.objects.set(path, { ...before, metadata, status });
    this.#send(path, before);
  }

  /** Ends all watches, as a server does after their time. */
  endWatches(): void {
    const all = [...this.#watches.values()];
    this.#watches.clear();
    for (const responses of all) for (const response of responses) response.end();
  }

  #open(path: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    this.#watches.set(path, (this.#watches.get(path) ?? new Set()).add(response));
  }

  #send(path: string, before: KubeObject | undefined): void {
    if (this.leavesOutChanges) return;
    const present = this.objects.get(path);
    const metadata = { ...before?.metadata, resourceVersion: String(++versions) };
    const object = present ?? { ...before, metadata };
    const type = present === undefined ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED';
    for (const response of this.#watches.get(collectionOf(path)) ?? [])
      response.write(`${JSON.stringify({ type, object })}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.api[Symbol.asyncDispose]();
  }
}

export const SYSTEM_NAMESPACE = '/api/v1/namespaces/kube-system';
const SYSTEM: KubeObject = { metadata: { name: 'kube-system', uid: 'cluster' } };

let uids = 0;
let versions = 0;

/** Returns an object with its version and generation, and the former one if nothing has changed. */
function versioned(object: KubeObject, before: KubeObject | undefined): KubeObject {
  const { resourceVersion: _, generation = 0, ...metadata } = before?.metadata ?? {};
  const former = JSON.stringify({ ...before, metadata });
  if (before !== undefined && JSON.stringify(object) === former) return before;
  const next = { resourceVersion: String(++versions), generation: generation + 1 };
  return { ...object, metadata: { ...object.metadata, ...next } };
}

/** Returns the path of all objects of a kind. */
function collectionOf(path: string): string {
  return path.replace(/\/namespaces\/[^/]+(?=\/)/, '').replace(/\/[^/]*$/, '');
}

/** Returns the path of the object that a request is about. */
function pathOfObject({ method, path, body }: ReceivedRequest): string {
  if (method !== 'POST') return path;
  return `${path}/${(JSON.parse(body) as KubeObject).metadata.name}`;
}

function answer(
  objects: Map<string, KubeObject>,
  request: ReceivedRequest,
  response: ServerResponse,
  hasControllers: boolean,
): void {
  const { method, query, body } = request;
  const path = pathOfObject(request);
  const found = objects.get(path) ?? (path === SYSTEM_NAMESPACE ? SYSTEM : undefined);
  const sent = body === '' ? {} : (JSON.parse(body) as JsonObject);
  if (method === 'POST' && found !== undefined)
    return answerJson(response, 409, statusObject(409, 'AlreadyExists', `${path} already exists`));
  if (method === 'PATCH' || method === 'POST') {
    const applied = sent as unknown as KubeObject;
    const { uid = found?.metadata.uid ?? `uid-${++uids}` } = applied.metadata;
    if (found !== undefined && query['force'] !== 'true')
      return answerJson(response, 409, statusObject(409, 'Conflict', 'conflicts with a manager'));
    if (uid !== (found?.metadata.uid ?? uid))
      return answerJson(response, 409, statusObject(409, 'Conflict', 'another uid'));
    const status = found?.['status'];
    const whole = {
      ...applied,
      ...(hasControllers ? taken(applied) : {}),
      ...(status === undefined ? {} : { status }),
      metadata: { ...applied.metadata, uid },
    };
    const stored = versioned(whole, found);
    objects.set(path, stored);
    return answerJson(response, 200, stored);
  }
  if (method === 'DELETE' && found !== undefined) {
    objects.delete(path);
    return answerJson(response, 200, { kind: 'Status', status: 'Success' });
  }
  if (method === 'GET' && found !== undefined) return answerJson(response, 200, found);
  if (method === 'GET' && 'limit' in query) {
    const items = [...objects]
      .filter(([one]) => one.startsWith(`${path}/`) || collectionOf(one) === path)
      .map(([, one]) => one);
    return answerJson(response, 200, { metadata: { resourceVersion: '1' }, items });
  }
  answerJson(response, 404, statusObject(404, 'NotFound', `${path} not found`));
}

/** What the controllers write at once. */
function taken({ kind }: KubeObject): JsonObject {
  return kind === 'StatefulSet'
    ? { status: { currentRevision: 'r1', updateRevision: 'r1', observedGeneration: 1 } }
    : {};
}
