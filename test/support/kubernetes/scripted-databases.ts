// ScriptedDatabases stand for the operator of databases in a cluster: its kind of custom resource, the secrets that it writes, and an admission webhook
// of it. Names and keys are those of CloudNativePG.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import type { KubernetesServer } from './kubernetes-server.ts';

/** A password that no test should find anywhere but in its secret. */
export const PASSWORD = 'never-printed-9Qz';
const GROUP = 'postgresql.cnpg.io';
const VERSION = `/apis/${GROUP}/v1`;
const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const MERGE = 'application/merge-patch+json';
const PATIENCE_MS = 30_000;

export class ScriptedDatabases {
  readonly #server: KubernetesServer;
  readonly #client: KubeClient;
  #webhook: Server | undefined;

  constructor(server: KubernetesServer) {
    this.#server = server;
    this.#client = server.client();
  }

  /** Installs the kind, as an operator of databases does, and waits until the server has it. */
  async install(): Promise<void> {
    await this.#server.create(CRD, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `clusters.${GROUP}` },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: {
          kind: 'Cluster',
          listKind: 'ClusterList',
          plural: 'clusters',
          singular: 'cluster',
        },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    required: ['instances'],
                    properties: { instances: { type: 'integer', minimum: 1 } },
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                  status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        ],
      },
    });
    const ends = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        await this.#client.list(`${VERSION}/clusters`);
        return;
      } catch (error) {
        if (performance.now() > ends) throw error;
        await delay(50);
      }
    }
  }

  pathOf(namespace: string, name: string): string {
    return `${VERSION}/namespaces/${namespace}/clusters/${name}`;
  }

  /** Says how far a database is, as its operator does. */
  async report(namespace: string, name: string, phase: string): Promise<void> {
    await this.#client.transport.send({
      method: 'PATCH',
      path: `${this.pathOf(namespace, name)}/status`,
      body: { status: { phase } },
      contentType: MERGE,
    });
  }

  /** Writes the secrets of a database that is ready. */
  async finish(namespace: string, name: string, authority = 'a certificate'): Promise<void> {
    const url = `postgresql://app:${PASSWORD}@${name}-rw.${namespace}:5432/app`;
    await this.#secret(namespace, `${name}-ca`, { 'ca.crt': authority, 'ca.key': 'its key' });
    await this.#secret(namespace, `${name}-app`, { uri: url, username: 'app', password: PASSWORD });
    await this.report(namespace, name, 'Cluster in healthy state');
  }

  /** Refuses each new database with a message from now on, by an admission webhook. */
  async refuse(message: string): Promise<void> {
    const issued = await this.#server.certificates.issue('database-webhook', {
      addresses: ['127.0.0.1'],
    });
    this.#webhook = createServer(
      { cert: issued.certificate, key: issued.key },
      (request, response) => {
        const pieces: Buffer[] = [];
        request.on('data', (piece: Buffer) => pieces.push(piece));
        request.on('end', () => {
          const review = JSON.parse(Buffer.concat(pieces).toString('utf8')) as {
            readonly request: { readonly uid: string };
          };
          response.setHeader('content-type', 'application/json');
          response.end(
            JSON.stringify({
              apiVersion: 'admission.k8s.io/v1',
              kind: 'AdmissionReview',
              response: { uid: review.request.uid, allowed: false, status: { message } },
            }),
          );
        });
      },
    );
    this.#webhook.listen(0, '127.0.0.1');
    await once(this.#webhook, 'listening');
    const { port } = this.#webhook.address() as AddressInfo;
    await this.#server.create(WEBHOOKS, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'databases' },
      webhooks: [
        {
          name: `vcluster.${GROUP}`,
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: {
            url: `https://127.0.0.1:${port}/`,
            caBundle: Buffer.from(this.#server.certificates.authority).toString('base64'),
          },
          rules: [
            {
              apiGroups: [GROUP],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['clusters'],
            },
          ],
        },
      ],
    });
  }

  /** Ends the refusals. */
  async admit(): Promise<void> {
    await this.#client.delete(`${WEBHOOKS}/databases`);
    await this.stop();
  }

  async stop(): Promise<void> {
    this.#webhook?.closeAllConnections();
    this.#webhook?.close();
    if (this.#webhook?.listening) await once(this.#webhook, 'close');
    this.#webhook = undefined;
  }

  async #secret(
    namespace: string,
    name: string,
    stringData: Readonly<Record<string, string>>,
  ): Promise<void> {
    await this.#server.create(`/api/v1/namespaces/${namespace}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      stringData,
    });
  }
}
