// FlowHistory: sends requests to a control plane, alone or several at the same time, and compares with the reference. A request
// that is alone has the answer and the effect of the reference. Of requests at the same time, the invariants are checked: no
// project without organization, no service without project, one owner of a hostname, an id that is created once, and a
// generation that rises by one with each apply and each restart.
import { expect } from 'vitest';
import type { Result } from '@svc/host';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { createOrganization } from '../../../control-plane/flows/create-organization.ts';
import { createProject } from '../../../control-plane/flows/create-project.ts';
import { deleteOrganization } from '../../../control-plane/flows/delete-organization.ts';
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
} from '../control-plane-under-test.ts';

import {
  CUSTOM,
  DERIVED,
  ORGANIZATIONS,
  PROJECTS,
  Reference,
  SERVICES,
  type Request,
} from './flow-reference.ts';

const ann = actor('ann');

function send(call: Call, run: string, request: Request): Promise<Result<unknown>> {
  const id = `${run}${request.id}`;
  if (request.kind === 'createOrganization')
    return createOrganization(call, id, { name: id, owner: personOf('ann') }, ann);
  if (request.kind === 'deleteOrganization') return deleteOrganization(call, id, ann);
  if (request.kind === 'createProject')
    return createProject(call, id, { organizationId: `${run}${request.parent}`, name: id }, ann);
  if (request.kind === 'deleteProject') return deleteProject(call, id, ann);
  const [projectId, name] = id.split('/') as [string, string];
  const key = { project: projectId, service: name };
  if (request.kind === 'apply') {
    const hostnames = request.hostnames.map((letter) => run + letter);
    return applyService(call, key, descriptor(name, { hostnames, http: request.http }), ann);
  }
  if (request.kind === 'expose') return exposeService(call, key, run + DERIVED, ann);
  if (request.kind === 'unexpose') return unexposeService(call, key, ann);
  if (request.kind === 'deleteService') return deleteService(call, key, ann);
  return call(service, id)[request.kind]({ by: ann });
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

/** What is known of one history of requests. Its entities' ids begin with `run`, so that histories share a control plane. */
export class FlowHistory {
  readonly reference = new Reference();
  /** Number of accepted requests that created an organization or a project, by its id. */
  readonly creations = new Map<string, number>();
  readonly call: Call;
  readonly run: string;

  constructor(call: Call, run: string) {
    this.call = call;
    this.run = run;
  }
}

/** Sends the requests at the same time, and checks their answers and what they leave behind. */
export async function sendRound(history: FlowHistory, round: readonly Request[]): Promise<void> {
  const { call, run, reference, creations } = history;
  const generations = new Map(SERVICES.map((id) => [id, reference.serviceOf(id).generation]));
  const results = await Promise.all(round.map((request) => send(call, run, request)));
  const isAlone = round.length === 1;
  if (isAlone) expect(outcomeOf(results[0]!)).toBe(reference.answer(round[0]!));
  const expected = structuredClone(reference.services);
  await readReference(call, run, reference);
  if (isAlone)
    for (const [id, model] of expected) expect([id, reference.serviceOf(id)]).toEqual([id, model]);
  for (const [index, { kind, id }] of round.entries()) {
    if (!results[index]!.isOk) continue;
    if (kind === 'apply' || kind === 'restart') generations.set(id, generations.get(id)! + 1);
    if (kind === 'createProject' || kind === 'createOrganization')
      creations.set(id, (creations.get(id) ?? 0) + 1);
  }
  for (const [id, generation] of generations)
    expect([id, reference.serviceOf(id).generation]).toEqual([id, generation]);
  for (const [id, times] of creations) expect([id, times]).toEqual([id, 1]);
  const own = (ids: readonly string[]) => ids.map((id) => run + id);
  await expectSettled(call, {
    organizations: own(ORGANIZATIONS),
    projects: own(PROJECTS),
    services: own(SERVICES),
    hostnames: own([...CUSTOM, DERIVED]),
  });
}
