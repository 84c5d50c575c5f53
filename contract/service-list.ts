// ServiceList: the services of a machine, as the console's server reports them to its page (GET
// /api/services).

export interface ListedService {
  readonly instanceId: string;
  readonly name: string;
  readonly pid: number;
  /** Time as ISO 8601. */
  readonly startedAt: string;
  readonly state: 'running' | 'gone';
  /** Address of the service's HTTP server; null while the service does not listen. */
  readonly address: string | null;
  /** Address of the service's observability endpoint. */
  readonly observabilityAddress: string;
  /** Reason why the service does not answer; null while it answers. */
  readonly problem: string | null;
}

export interface ServiceList {
  /** Folder in which services register. */
  readonly folder: string;
  readonly services: readonly ListedService[];
  /** Number of registered services that are not listed, because they have not answered or have ended long ago. */
  readonly unanswered: number;
  /** Problem with the folder or its registration files; null if there is none. */
  readonly problem: string | null;
}
