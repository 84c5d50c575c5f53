// StoredObjects answers as an API server that stores what is applied, without any controller. It stands for the requests of a driver, not for
// what a cluster makes of them: the tests with a real API server do that.
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

  /** Called before each answer. */
  onRequest: () => void = () => undefined;

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
      const refusal = refusals.get(`${request.method} ${request.path}`);
      if (refusal === undefined) answer(objects, request, response);
      else
        answerJson(
          response,
          refusal.status,
          statusObject(refusal.status, refusal.reason, refusal.message),
        );
    });
    stored = new StoredObjects(api, objects, refusals);
    return stored;
  }

  /** Requests that change something, and forget them. */
  takeWrites(): readonly string[] {
    const writes = this.api.requests
      .splice(0)
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path }) => `${method} ${path}`);
    return writes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.api[Symbol.asyncDispose]();
  }
}

let uids = 0;

function answer(
  objects: Map<string, KubeObject>,
  { method, path, query, body }: ReceivedRequest,
  response: ServerResponse,
): void {
  const found = objects.get(path);
  const sent = body === '' ? {} : (JSON.parse(body) as JsonObject);
  if (method === 'PATCH') {
    const applied = sent as unknown as KubeObject;
    const { uid = found?.metadata.uid ?? `uid-${++uids}` } = applied.metadata;
    if (found !== undefined && query['force'] !== 'true')
      return answerJson(response, 409, statusObject(409, 'Conflict', 'conflicts with a manager'));
    if (uid !== (found?.metadata.uid ?? uid))
      return answerJson(response, 409, statusObject(409, 'Conflict', 'another uid'));
    const stored = { ...applied, ...taken(applied), metadata: { ...applied.metadata, uid } };
    objects.set(path, stored);
    return answerJson(response, 200, stored);
  }
  if (method === 'DELETE' && found !== undefined) {
    objects.delete(path);
    return answerJson(response, 200, { kind: 'Status', status: 'Success' });
  }
  if (method === 'GET' && found !== undefined) return answerJson(response, 200, found);
  if (method === 'GET' && 'limit' in query) {
    const items = [...objects].filter(([one]) => one.startsWith(`${path}/`)).map(([, one]) => one);
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
