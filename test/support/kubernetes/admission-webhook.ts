// AdmissionWebhook is a webhook that an API server asks before it stores objects of a namespace that has the label `reviewed` with its name. It refuses or
// changes them.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../../control-plane/kubernetes/api/kube-transport.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import type { KubernetesServer } from './kubernetes-server.ts';

export interface Verdict {
  /** Why the object is refused. Absent: it is not. */
  readonly refusal?: string;
  /** Changes of the object as JSON Patch (RFC 6902). */
  readonly patch?: readonly JsonObject[];
}

export type Review = (object: KubeObject) => Verdict;

export interface AdmissionWebhookOptions {
  readonly name: string;
  readonly namespace: string;
  /** `validating` webhooks are asked last, and cannot change anything. */
  readonly kind: 'validating' | 'mutating';
  readonly review: Review;
}

const GROUP = '/apis/admissionregistration.k8s.io/v1';

export class AdmissionWebhook implements AsyncDisposable {
  readonly #server: Server;
  readonly #remove: () => Promise<void>;

  private constructor(server: Server, remove: () => Promise<void>) {
    this.#server = server;
    this.#remove = remove;
  }

  /** Reviews the Deployments and Services of the namespace. */
  static async start(
    cluster: KubernetesServer,
    { name, namespace, kind, review }: AdmissionWebhookOptions,
  ): Promise<AdmissionWebhook> {
    const { certificate, key } = await cluster.certificates.issue(name, {
      subject: `CN=${name}`,
      addresses: ['127.0.0.1'],
    });
    const server = createServer({ cert: certificate, key }, async (request, response) => {
      let text = '';
      for await (const piece of request) text += String(piece);
      const { uid, object } = (
        JSON.parse(text) as {
          readonly request: { readonly uid: string; readonly object: KubeObject };
        }
      ).request;
      const { refusal, patch } = review(object);
      const answer = {
        uid,
        allowed: refusal === undefined,
        ...(refusal !== undefined && { status: { message: refusal } }),
        ...(patch !== undefined && {
          patchType: 'JSONPatch',
          patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
        }),
      };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          response: answer,
        }),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const path = `${GROUP}/${kind}webhookconfigurations`;
    const configuration = configurationOf(
      { name, namespace, kind },
      {
        url: `https://127.0.0.1:${port}/`,
        caBundle: Buffer.from(cluster.certificates.authority).toString('base64'),
      },
    );
    await cluster.create(path, configuration);
    const client = cluster.client();
    const remove = async () => {
      await client.delete(`${path}/${name}`);
    };
    return new AdmissionWebhook(server, remove);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#remove();
    this.#server.closeAllConnections();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, 'close');
  }
}

function configurationOf(
  { name, namespace, kind }: Omit<AdmissionWebhookOptions, 'review'>,
  clientConfig: JsonObject,
): JsonObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind === 'mutating' ? 'Mutating' : 'Validating'}WebhookConfiguration`,
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.org`,
        clientConfig,
        namespaceSelector: { matchLabels: { reviewed: namespace } },
        rules: [
          {
            apiGroups: ['', 'apps'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['services', 'deployments'],
          },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Fail',
        timeoutSeconds: 10,
      },
    ],
  };
}
