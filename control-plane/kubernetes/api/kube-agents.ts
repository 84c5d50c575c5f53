// KubeAgents: the connections to the API server. A certificate of the client belongs to its connections, so another certificate has other ones; those of
// the former are closed once their requests have ended.
import { Agent } from 'undici';
import type { KubeCredentials } from './kube-credentials.ts';

export interface KubeAgentsOptions {
  readonly connectTimeoutMs: number;
  /** Certificates as PEM that sign the server's. Default: those of Node. */
  readonly authority?: string | undefined;
  /** The name that the server's certificate has, if it is another one than the host. */
  readonly serverName?: string | undefined;
}

type Certificate = Pick<KubeCredentials, 'certificate' | 'key'>;

export class KubeAgents implements AsyncDisposable {
  readonly #options: KubeAgentsOptions;
  /** All agents with connections, the present one and those that are closing. */
  readonly #open = new Set<Agent>();
  #present: { readonly agent: Agent; readonly of: Certificate } | undefined;

  constructor(options: KubeAgentsOptions) {
    this.#options = options;
  }

  agentFor({ certificate, key }: Certificate): Agent {
    const present = this.#present;
    if (present !== undefined && present.of.certificate === certificate && present.of.key === key)
      return present.agent;
    const agent = this.#newAgent({ certificate, key });
    this.#present = { agent, of: { certificate, key } };
    if (present !== undefined) void this.#close(present.agent);
    return agent;
  }

  /** Closes all connections; what is in flight fails. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open].map((agent) => agent.destroy()));
  }

  #newAgent({ certificate, key }: Certificate): Agent {
    const { connectTimeoutMs, authority, serverName } = this.#options;
    const agent = new Agent({
      // The signal of each request ends it.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: connectTimeoutMs,
        ...(authority === undefined ? {} : { ca: authority }),
        ...(serverName === undefined ? {} : { servername: serverName }),
        ...(certificate === undefined ? {} : { cert: certificate }),
        ...(key === undefined ? {} : { key }),
      },
    });
    this.#open.add(agent);
    return agent;
  }

  async #close(agent: Agent): Promise<void> {
    try {
      await agent.close();
    } catch {
      // It was destroyed meanwhile.
    }
    this.#open.delete(agent);
  }
}
