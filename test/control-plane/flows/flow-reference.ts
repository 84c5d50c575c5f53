// FlowReference: requests of random kinds, and a small model that answers them one after the other.
import {
  type Arbitrary,
  boolean,
  constant,
  constantFrom,
  oneof,
  record,
  subarray,
} from 'fast-check';

export const ORGANIZATIONS = ['o1', 'o2'];
export const PROJECTS = ['p1', 'p2'];
export const SERVICES = PROJECTS.flatMap((id) => [`${id}/s1`, `${id}/s2`]);
export const CUSTOM = ['h1', 'h2'];
export const DERIVED = 'd';

const anOrganization = constantFrom(...ORGANIZATIONS);
const aProject = constantFrom(...PROJECTS);
const aService = constantFrom(...SERVICES);
const kind = <Kind extends string>(name: Kind) => constant(name);

export const requests = oneof(
  record({ kind: kind('createOrganization'), id: anOrganization }),
  record({ kind: kind('deleteOrganization'), id: anOrganization }),
  {
    weight: 2,
    arbitrary: record({ kind: kind('createProject'), id: aProject, parent: anOrganization }),
  },
  record({ kind: kind('deleteProject'), id: aProject }),
  {
    weight: 5,
    arbitrary: record({
      kind: kind('apply'),
      id: aService,
      hostnames: subarray(CUSTOM),
      http: boolean(),
    }),
  },
  { weight: 2, arbitrary: record({ kind: kind('expose'), id: aService }) },
  record({ kind: kind('unexpose'), id: aService }),
  record({ kind: kind('pause'), id: aService }),
  record({ kind: kind('resume'), id: aService }),
  record({ kind: kind('restart'), id: aService }),
  record({ kind: kind('deleteService'), id: aService }),
);
export type Request = typeof requests extends Arbitrary<infer Value> ? Value : never;

export interface ServiceModel {
  isAlive: boolean;
  generation: number;
  hasHttp: boolean;
  isExposed: boolean;
  isPaused: boolean;
  hostnames: readonly string[];
}

/** The reference: one request after the other. */
export class Reference {
  readonly organizations = new Map<string, 'alive' | 'deleted'>();
  readonly projects = new Map<string, { readonly parent: string; isAlive: boolean }>();
  readonly services = new Map<string, ServiceModel>();

  serviceOf(id: string): ServiceModel {
    let known = this.services.get(id);
    if (known === undefined) {
      const none = { isAlive: false, hasHttp: true, isExposed: false, isPaused: false };
      known = { ...none, generation: 0, hostnames: [] };
      this.services.set(id, known);
    }
    return known;
  }

  answer(request: Request): string {
    if (request.kind === 'createOrganization') {
      if (this.organizations.has(request.id)) return 'CONFLICT';
      this.organizations.set(request.id, 'alive');
      return 'ok';
    }
    if (request.kind === 'deleteOrganization') {
      if (this.organizations.get(request.id) !== 'alive') return 'NOT_FOUND';
      for (const { parent, isAlive } of this.projects.values())
        if (isAlive && parent === request.id) return 'CONFLICT';
      this.organizations.set(request.id, 'deleted');
      return 'ok';
    }
    if (request.kind === 'createProject') {
      if (this.organizations.get(request.parent) !== 'alive') return 'NOT_FOUND';
      if (this.projects.has(request.id)) return 'CONFLICT';
      this.projects.set(request.id, { parent: request.parent, isAlive: true });
      return 'ok';
    }
    if (request.kind !== 'deleteProject')
      return this.#answerOfService(request, this.serviceOf(request.id));
    const found = this.projects.get(request.id);
    if (found?.isAlive !== true) return 'NOT_FOUND';
    for (const [id, { isAlive }] of this.services)
      if (isAlive && id.startsWith(`${request.id}/`)) return 'CONFLICT';
    found.isAlive = false;
    return 'ok';
  }

  #answerOfService(request: Request, found: ServiceModel): string {
    if (request.kind === 'apply') {
      const isTaken = [...this.services.values()].some(
        (other) =>
          other !== found && other.hostnames.some((name) => request.hostnames.includes(name)),
      );
      if (isTaken) return 'CONFLICT';
      if (this.projects.get(request.id.split('/')[0]!)?.isAlive !== true) return 'NOT_FOUND';
      const { hostnames, http: hasHttp } = request;
      const isExposed = found.isExposed && hasHttp;
      const generation = found.generation + 1;
      Object.assign(found, { isAlive: true, generation, hasHttp, isExposed, hostnames });
      return 'ok';
    }
    if (request.kind === 'expose') {
      // The hostname is claimed before the service is asked.
      for (const other of this.services.values())
        if (other !== found && other.isExposed) return 'CONFLICT';
    }
    if (!found.isAlive) return 'NOT_FOUND';
    if (request.kind === 'expose' && !found.hasHttp) return 'CONFLICT';
    if (request.kind === 'restart' && found.isPaused) return 'CONFLICT';
    if (request.kind === 'expose') found.isExposed = true;
    if (request.kind === 'unexpose') found.isExposed = false;
    if (request.kind === 'pause') found.isPaused = true;
    if (request.kind === 'resume') found.isPaused = false;
    if (request.kind === 'restart') found.generation++;
    if (request.kind === 'deleteService') {
      const { generation } = found;
      this.services.set(request.id, { ...new Reference().serviceOf(request.id), generation });
    }
    return 'ok';
  }
}
