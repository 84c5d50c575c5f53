// AuditLog: the requests of the control plane as the API server has authorized them, from the server's audit log.
import { existsSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../../../control-plane/kubernetes/api/kube-transport.ts';

/** A request that was answered, or has begun to be. */
interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly stageTimestamp: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const CREATED = 201;

/** Returns the policy by which the API server logs the requests of one user and no others. */
export function auditPolicy(user: string): JsonObject {
  return {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', users: [user] }, { level: 'None' }],
  };
}

export class AuditLog {
  readonly #file: string;
  readonly #starts: { readonly fromMs: number; readonly toMs: number }[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  /** The rights that were used, as `verb resource.group` each, sorted. */
  get usedRights(): readonly string[] {
    const rights = this.#events
      .filter(({ objectRef }) => objectRef?.resource !== undefined)
      .filter((event) => !isForbidden(event))
      .flatMap(({ verb, objectRef, responseStatus }) => {
        const { resource, subresource, apiGroup = '' } = objectRef!;
        const whole = subresource === undefined ? resource! : `${resource}/${subresource}`;
        // An apply of a missing object is authorized as a creation as well, which the log does not name.
        const verbs =
          verb === 'patch' && responseStatus?.code === CREATED ? [verb, 'create'] : [verb];
        return verbs.map((each) => rightOf(each, whole, apiGroup));
      });
    return [...new Set(rights)].toSorted();
  }

  /** Notes when the server was starting. It knows no rights until it has read them. */
  addStart(fromMs: number, toMs: number): void {
    this.#starts.push({ fromMs, toMs });
  }

  /** The requests that were refused because their user has no right to them, as `verb path` each. */
  get forbidden(): readonly string[] {
    return this.#events
      .filter((event) => isForbidden(event) && !this.#isOfStart(Date.parse(event.stageTimestamp)))
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
  }

  #isOfStart(ms: number): boolean {
    return this.#starts.some(({ fromMs, toMs }) => ms >= fromMs && ms <= toMs);
  }

  get #events(): readonly AuditEvent[] {
    if (!existsSync(this.#file)) return [];
    return readFileSync(this.#file, 'utf8').split('\n').flatMap(eventIn);
  }
}

/** A line is half written while the server writes it, and after it was killed then. */
function eventIn(line: string): readonly AuditEvent[] {
  try {
    return [JSON.parse(line) as AuditEvent];
  } catch {
    return [];
  }
}

/** Returns the rights that rules of RBAC give, as `verb resource.group` each, sorted. */
export function rightsOf(rules: readonly Rule[]): readonly string[] {
  return rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => rightOf(verb, resource, group))),
      ),
    )
    .toSorted();
}

function rightOf(verb: string, resource: string, group: string): string {
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}`;
}

function isForbidden({ annotations }: AuditEvent): boolean {
  return annotations?.['authorization.k8s.io/decision'] === 'forbid';
}
