// ServiceList: what the console's server tells its page of the services of a machine (GET /api/services).

export interface ListedService {
  readonly instanceId: string;
  readonly name: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly state: 'running' | 'gone';
  /** Of its HTTP server. */
  readonly address: string | null;
  readonly observabilityAddress: string;
  readonly problem: string | null;
}

export interface ServiceList {
  /** Where services register. */
  readonly folder: string;
  readonly services: readonly ListedService[];
  /** Files whose service does not answer. */
  readonly unanswered: number;
  readonly problem: string | null;
}
