// ScriptedCertManager stands for what makes the certificates of programs in a cluster: secrets with an identity of SPIFFE, in cert-manager's layout of
// names. A secret that is there already is left as it is.
import type { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import { CertificateAuthority } from '../certificates/certificate-authority.ts';
import { secretReader } from './mounted-files.ts';

export interface MadeIdentity {
  readonly certificate: string;
  readonly key: string;
  readonly authorities: string;
}

const ENDING = '-identity';

export class ScriptedCertManager {
  readonly #client: KubeClient;
  readonly #trustDomain: string;
  readonly #authority: CertificateAuthority;

  private constructor(client: KubeClient, trustDomain: string, authority: CertificateAuthority) {
    this.#client = client;
    this.#trustDomain = trustDomain;
    this.#authority = authority;
  }

  static async create(client: KubeClient, trustDomain: string): Promise<ScriptedCertManager> {
    const authority = await CertificateAuthority.create('identities');
    return new ScriptedCertManager(client, trustDomain, authority);
  }

  /** Returns a secret, and makes it first if it is that of the identity of a service. */
  async secretOf(namespace: string, name: string): Promise<KubeObject | undefined> {
    if (name.endsWith(ENDING)) {
      const service = name.slice(0, -ENDING.length);
      await this.#keep(
        namespace,
        name,
        `spiffe://${this.#trustDomain}/ns/${namespace}/sa/${service}`,
      );
    }
    return await secretReader(this.#client)(namespace, name);
  }

  /** Returns the identity of the gateway of the installation. */
  async gateway(namespace: string): Promise<MadeIdentity> {
    const name = `gateway${ENDING}`;
    await this.#keep(namespace, name, `spiffe://${this.#trustDomain}/gateway`);
    const found = (await secretReader(this.#client)(namespace, name))!;
    const data = found['data'] as Readonly<Record<string, string>>;
    const text = (key: string) => Buffer.from(data[key]!, 'base64').toString();
    return { certificate: text('tls.crt'), key: text('tls.key'), authorities: text('ca.crt') };
  }

  async #keep(namespace: string, name: string, id: string): Promise<void> {
    if ((await secretReader(this.#client)(namespace, name)) !== undefined) return;
    const { certificate, key } = await this.#authority.issue({ uris: [id] });
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    await this.#client.transport.send({
      method: 'POST',
      path,
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name },
        type: 'kubernetes.io/tls',
        stringData: {
          'tls.crt': certificate,
          'tls.key': key,
          'ca.crt': this.#authority.certificate,
        },
      },
    });
  }
}
