// KubeAgents: the connections to the API server. A certificate of the client belongs to its connections, so another certificate has other ones; those of
// the former are closed once their requests have ended.
//
// They speak HTTP/1.1. With HTTP/2 the library leaves requests unanswered after the server has announced its end, and errors of sessions without an owner, which
// end the process.
import { Agent } from 'undici';
import type { KubeCredentials } from './kube-credentials.ts';
import type { KubeLimits } from './kube-limits.ts';

export interface KubeAgentsOptions {
  readonly limits: Pick<KubeLimits, 'connectTimeoutMs' | 'connectionsMax' | 'logConnectionsMax'>;
  /** Certificates as PEM that sign the server's. Default: those of Node. */
  readonly authority?: string | undefined;
  /** The name that the server's certificate has, if it is another one than the host. */
  readonly serverName?: string | undefined;
}

type Certificate = Pick<KubeCredentials, 'certificate' | 'key'>;
/** Each use has connections of its own. So whatever members read of their logs, the driver goes on; and a watch, which lasts, keeps nothing else waiting. */
export type ConnectionUse = 'answers' | 'logs' | 'watches';
type Agents = Readonly<Record<ConnectionUse, Agent>>;

export class KubeAgents implements AsyncDisposable {
  readonly #options: KubeAgentsOptions;
  /** All agents with connections, the present one and those that are closing. */
  readonly #open = new Set<Agent>();
  #present: { readonly agents: Agents; readonly of: Certificate } | undefined;

  constructor(options: KubeAgentsOptions) {
    this.#options = options;
  }

  agentFor({ certificate, key }: Certificate, use: ConnectionUse): Agent {
    const present = this.#present;
    if (present !== undefined && present.of.certificate === certificate && present.of.key === key)
      return present.agents[use];
    const { connectionsMax, logConnectionsMax } = this.#options.limits;
    const agents = {
      answers: this.#newAgent({ certificate, key }, connectionsMax),
      logs: this.#newAgent({ certificate, key }, logConnectionsMax),
      // There are as many as there are kinds that the driver watches.
      watches: this.#newAgent({ certificate, key }),
    };
    this.#present = { agents, of: { certificate, key } };
    if (present !== undefined)
      for (const agent of Object.values(present.agents)) void this.#close(agent);
    return agents[use];
  }

  /** Closes all connections; what is in flight fails. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open].map((agent) => agent.destroy()));
  }

  #newAgent({ certificate, key }: Certificate, connections: number | null = null): Agent {
    const { limits, authority, serverName } = this.#options;
    const agent = new Agent({
      allowH2: false,
      connections,
      // The signal of each request ends it.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: limits.connectTimeoutMs,
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
