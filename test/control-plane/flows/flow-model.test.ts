// Random requests, alone and at the same time, against a small reference. A request that is alone has the answer of the
// reference. Of requests at the same time, the answers and the invariants are compared: no project without organization, no
// service without project, one owner of a hostname, and a generation that rises by one with each apply and each restart.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Result } from '@svc/host';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { createOrganization } from '../../../control-plane/flows/create-organization.ts';
import { createProject } from '../../../control-plane/flows/create-project.ts';
import { deleteProject } from '../../../control-plane/flows/delete-project.ts';
import { deleteService } from '../../../control-plane/flows/delete-service.ts';
import { exposeService, unexposeService } from '../../../control-plane/flows/expose-service.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import { project } from '../../../control-plane/model/project.ts';
import { service } from '../../../control-plane/model/service.ts';
import {
  accepted,
  actor,
  descriptor,
  expectSettled,
  outcomeOf,
  personOf,
  startControlPlane,
} from '../control-plane-under-test.ts';

const ann = actor('ann');
const ORGANIZATIONS = ['o1', 'o2'];
const PROJECTS = ['p1', 'p2'];
const SERVICES = PROJECTS.flatMap((id) => [`${id}/s1`, `${id}/s2`]);
const CUSTOM = ['h1', 'h2'];
const DERIVED = 'd';
const RUNS = 60;

const anOrganization = fc.constantFrom(...ORGANIZATIONS);
const aProject = fc.constantFrom(...PROJECTS);
const aService = fc.constantFrom(...SERVICES);
const kind = <Kind extends string>(name: Kind) => fc.constant(name);

const requests = fc.oneof(
  fc.record({ kind: kind('createOrganization'), id: anOrganization }),
  fc.record({ kind: kind('deleteOrganization'), id: anOrganization }),
  {
    weight: 2,
    arbitrary: fc.record({ kind: kind('createProject'), id: aProject, parent: anOrganization }),
  },
  fc.record({ kind: kind('deleteProject'), id: aProject }),
  {
    weight: 5,
    arbitrary: fc.record({
      kind: kind('apply'),
      id: aService,
      hostnames: fc.subarray(CUSTOM),
      http: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('expose'), id: aService }) },
  fc.record({ kind: kind('unexpose'), id: aService }),
  fc.record({ kind: kind('pause'), id: aService }),
  fc.record({ kind: kind('resume'), id: aService }),
  fc.record({ kind: kind('restart'), id: aService }),
  fc.record({ kind: kind('deleteService'), id: aService }),
);
type Request = typeof requests extends fc.Arbitrary<infer Value> ? Value : never;

interface ServiceModel {
  isAlive: boolean;
  generation: number;
  hasHttp: boolean;
  isExposed: boolean;
  isPaused: boolean;
  hostnames: readonly string[];
}

/** The reference: one request after the other. */
class Reference {
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
    switch (request.kind) {
      case 'createOrganization':
        if (this.organizations.has(request.id)) return 'CONFLICT';
        this.organizations.set(request.id, 'alive');
        return 'ok';
      case 'deleteOrganization': {
        if (this.organizations.get(request.id) !== 'alive') return 'NOT_FOUND';
        for (const { parent, isAlive } of this.projects.values())
          if (isAlive && parent === request.id) return 'CONFLICT';
        this.organizations.set(request.id, 'deleted');
        return 'ok';
      }
      case 'createProject':
        if (this.organizations.get(request.parent) !== 'alive') return 'NOT_FOUND';
        if (this.projects.has(request.id)) return 'CONFLICT';
        this.projects.set(request.id, { parent: request.parent, isAlive: true });
        return 'ok';
      case 'deleteProject': {
        const found = this.projects.get(request.id);
        if (found?.isAlive !== true) return 'NOT_FOUND';
        for (const [id, { isAlive }] of this.services)
          if (isAlive && id.startsWith(`${request.id}/`)) return 'CONFLICT';
        found.isAlive = false;
        return 'ok';
      }
      default:
        return this.#answerOfService(request, this.serviceOf(request.id));
    }
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

function send(call: Call, run: string, request: Request): Promise<Result<unknown>> {
  const id = `${run}${request.id}`;
  if (request.kind === 'createOrganization')
    return createOrganization(call, id, { name: id, owner: personOf('ann') }, ann);
  if (request.kind === 'deleteOrganization') return call(organization, id).delete({ by: ann });
  if (request.kind === 'createProject')
    return createProject(call, id, { organizationId: `${run}${request.parent}`, name: id }, ann);
  if (request.kind === 'deleteProject') return deleteProject(call, id, ann);
  const [projectId, name] = id.split('/') as [string, string];
  const key = { project: projectId, service: name };
  switch (request.kind) {
    case 'apply': {
      const hostnames = request.hostnames.map((letter) => run + letter);
      return applyService(call, key, descriptor(name, { hostnames, http: request.http }), ann);
    }
    case 'expose':
      return exposeService(call, key, run + DERIVED, ann);
    case 'unexpose':
      return unexposeService(call, key, ann);
    case 'deleteService':
      return deleteService(call, key, ann);
    default:
      return call(service, id)[request.kind]({ by: ann });
  }
}

/** Makes the reference what the entities say, where requests at the same time may have come in any order. */
async function readReference(call: Call, run: string, reference: Reference): Promise<void> {
  for (const id of ORGANIZATIONS) {
    const isAlive = (await call(organization, run + id).people()).isOk;
    if (isAlive) reference.organizations.set(id, 'alive');
    else if (reference.organizations.has(id)) reference.organizations.set(id, 'deleted');
  }
  for (const id of PROJECTS) {
    const found = await call(project, run + id).summary();
    const known = reference.projects.get(id);
    if (found.isOk)
      reference.projects.set(id, {
        parent: found.value.organization.slice(run.length),
        isAlive: true,
      });
    else if (known !== undefined) known.isAlive = false;
  }
  for (const id of SERVICES) {
    const found = accepted(await call(service, run + id).desired());
    reference.services.set(id, {
      isAlive: found.isAlive,
      generation: found.generation,
      hasHttp: found.descriptor?.http !== false,
      isExposed: found.exposed !== undefined,
      isPaused: found.paused,
      hostnames: Object.keys(found.hostnames).map((name) => name.slice(run.length)),
    });
  }
}

test('flows answer like a reference that knows no other request, and keep the invariants', async () => {
  const { call } = await startControlPlane();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(requests, { minLength: 1, maxLength: 8 }), { minLength: 3, maxLength: 12 }),
      fc.boolean(),
      async (rounds, isAlone) => {
        const run = `r${runs++}`;
        const reference = new Reference();
        const created = new Map<string, number>();
        const setup: Request[] = [
          { kind: 'createOrganization', id: 'o1' },
          { kind: 'createProject', id: 'p1', parent: 'o1' },
        ];
        const flat = isAlone ? rounds.flat().map((request) => [request]) : rounds;
        for (const round of [...setup.map((request) => [request]), ...flat]) {
          const before = new Map(SERVICES.map((id) => [id, reference.serviceOf(id).generation]));
          const results = await Promise.all(round.map((request) => send(call, run, request)));
          const expected = round.length === 1 ? reference.answer(round[0]!) : undefined;
          if (expected !== undefined) expect(outcomeOf(results[0]!)).toBe(expected);
          const known = structuredClone([...reference.services]);
          await readReference(call, run, reference);
          // A request that was alone has left the state that the reference has.
          if (expected !== undefined) {
            const read = new Map(reference.services);
            for (const [id, model] of known) expect([id, read.get(id)]).toEqual([id, model]);
          }
          for (const [index, request] of round.entries()) {
            if (!results[index]!.isOk) continue;
            if (request.kind === 'apply' || request.kind === 'restart')
              before.set(request.id, before.get(request.id)! + 1);
            if (request.kind === 'createProject' || request.kind === 'createOrganization')
              created.set(request.id, (created.get(request.id) ?? 0) + 1);
          }
          for (const [id, generation] of before)
            expect([id, reference.serviceOf(id).generation]).toEqual([id, generation]);
          for (const [id, times] of created) expect([id, times]).toEqual([id, 1]);
          await expectSettled(call, {
            organizations: ORGANIZATIONS.map((id) => run + id),
            projects: PROJECTS.map((id) => run + id),
            services: SERVICES.map((id) => run + id),
            hostnames: [...CUSTOM, DERIVED].map((id) => run + id),
          });
        }
      },
    ),
    { numRuns: RUNS },
  );
});
