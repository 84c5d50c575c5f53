// ServiceList: the services of a machine, as the console's server reports them to its page (GET
// /api/services).

export interface ListedService {
  readonly instanceId: string;
  readonly name: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly state: 'running' | 'gone';
  /** Address of its HTTP server; null while it does not listen. */
  readonly address: string | null;
  /** Address of its observability endpoint. */
  readonly observabilityAddress: string;
  readonly problem: string | null;
}

export interface ServiceList {
  /** Folder in which services register. */
  readonly folder: string;
  readonly services: readonly ListedService[];
  /** Number of registration files whose service does not answer. */
  readonly unanswered: number;
  readonly problem: string | null;
}
