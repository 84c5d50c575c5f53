// FlowDriver: sends requests to the flows and entities of a control plane without HTTP: the caller's membership is asked as
// access/ does, then the flow of the route is run. A request may be cut off after some of its calls, as if the control plane had
// been killed: what it has not done by then is not done.
import type { EntityClient, Result } from '@svc/host';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import {
  claimInvitations,
  invite,
  membershipsOf,
  repairMember,
} from '../../../control-plane/flows/change-members.ts';
import { createOrganization } from '../../../control-plane/flows/create-organization.ts';
import { createProject } from '../../../control-plane/flows/create-project.ts';
import { deleteOrganization } from '../../../control-plane/flows/delete-organization.ts';
import { deleteProject } from '../../../control-plane/flows/delete-project.ts';
import { deleteService } from '../../../control-plane/flows/delete-service.ts';
import { exposeService, unexposeService } from '../../../control-plane/flows/expose-service.ts';
import type { Actor } from '../../../control-plane/model/actor.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import type { Person, Role } from '../../../control-plane/model/organization-state.ts';
import { project } from '../../../control-plane/model/project.ts';
import { maySucceedLater } from '../../../control-plane/model/refusals.ts';
import { service } from '../../../control-plane/model/service.ts';
import type { Descriptor } from '../../../control-plane/model/service-state.ts';
import { ROUTES, worksWhileDisabled, type Route } from '../../../client/index.ts';
import { keyedCalls } from '../../support/keyed-calls.ts';
import { Cut, cutAfter } from '../control-plane-under-test.ts';
import type { Driver, SentRequest } from './driver.ts';
import { expectRunSettled } from './expect-run-settled.ts';
import type { Answer } from './reference.ts';
import { addressIn, inputOf, sortedRows, type Input } from './requests.ts';

const STATUSES: Readonly<Record<string, number>> = {
  NOT_FOUND: 404,
  FORBIDDEN: 403,
  CONFLICT: 409,
  UNPROCESSABLE: 422,
  TOO_MANY_REQUESTS: 429,
};

/** More calls than nearly all requests make. */
const CUTS = 17;

export class FlowDriver implements Driver {
  readonly #call: () => Call;
  /** Number of calls after which the next request is cut off, and each further one after another number. */
  cutAfter: number | undefined;
  #sent = 0;

  constructor(call: () => Call) {
    this.#call = call;
  }

  async send({ request, run, idempotencyKey }: SentRequest): Promise<Answer | undefined> {
    const running = this.#call();
    const cut = this.cutAfter === undefined ? undefined : (this.cutAfter + this.#sent++) % CUTS;
    const call = cut === undefined ? running : cutAfter(running, cut);
    try {
      return await new FlowRequest(call, request.as, run, idempotencyKey).answer(
        request.route,
        inputOf(request, run),
      );
    } catch (error) {
      if (error instanceof Cut) return undefined;
      throw error;
    }
  }

  async expectSettled(run: string): Promise<void> {
    await expectRunSettled(this.#call(), run);
  }
}

class FlowRequest {
  /** Calls before the request is judged have no idempotency keys. */
  readonly #plain: Call;
  readonly #call: Call;
  readonly #as: string;
  readonly #run: string;
  readonly #subject: string;
  readonly #isAdministrator: boolean;

  constructor(call: Call, as: string, run: string, key: string) {
    this.#plain = call;
    this.#call = keyedCalls(call, key);
    this.#as = as;
    this.#run = run;
    this.#subject = as + run;
    this.#isAdministrator = as === 'root';
  }

  async answer(name: keyof typeof ROUTES, input: Input): Promise<Answer> {
    const address = ['ann', 'bob', 'cid'].includes(this.#as)
      ? addressIn(`${this.#as}@example.com`, this.#run)
      : '';
    const person = {
      subject: this.#subject,
      email: address,
      emailKey: address,
      display: this.#subject,
    };
    if (address !== '') await claimInvitations(this.#plain, person);
    const route: Route = ROUTES[name];
    const status = await this.#judge(route, input);
    if (status !== undefined) return { status };
    const by: Actor = {
      subject: this.#subject,
      display: this.#subject,
      administrative: route.who === 'administrator',
    };
    const result = await this.#done(name, input, by, person);
    if (!result.isOk) {
      if (maySucceedLater(result)) return { status: 503 };
      return { status: STATUSES[result.code] ?? 500 };
    }
    if (route.answer === undefined) return { status: 204 };
    return { status: 200, body: this.#essence(await this.#body(name, input, result)) };
  }

  async #judge({ who, path, method }: Route, input: Input): Promise<number | undefined> {
    const parent = input.body?.['organizationId'];
    let id = input.organizationId ?? (typeof parent === 'string' ? parent : undefined);
    if (who === 'caller') return undefined;
    if (id === undefined) {
      const found = await this.#plain(project, input.projectId!).summary();
      if (!found.isOk) return 404;
      id = found.value.organization;
    }
    const access = await this.#plain(organization, id).access({ subject: this.#subject });
    if (!access.isOk) return 404;
    const { role, isDisabled } = access.value;
    const seesAll = this.#isAdministrator && path.startsWith('/organizations/');
    if (role === undefined && !seesAll) return 404;
    if (who === 'administrator' && !this.#isAdministrator) return 403;
    if (who === 'owner' && role !== 'owner') return 403;
    return isDisabled && !worksWhileDisabled({ method, who }) ? 403 : undefined;
  }

  async #done(
    name: keyof typeof ROUTES,
    input: Input,
    by: Actor,
    person: Person,
  ): Promise<Result<unknown>> {
    if (name === 'whoami') return membershipsOf(this.#plain, this.#subject);
    if (input.organizationId !== undefined)
      return this.#doneToOrganization(name, { ...input, id: input.organizationId }, by, person);
    return this.#doneToProject(name, { projectId: '', ...input }, by);
  }

  async #doneToOrganization(
    name: string,
    { id, subject = '', email = '', body = {} }: Input & { readonly id: string },
    by: Actor,
    person: Person,
  ): Promise<Result<unknown>> {
    const call = this.#call;
    const found = call(organization, id);
    const { name: label, role } = body as { name: string; role: Role };
    switch (name) {
      case 'getOrganization':
        return found.summary({ subject: this.#subject });
      case 'listMembers':
        return found.people();
      case 'createOrganization':
        return createOrganization(call, id, { name: label, owner: person }, by);
      case 'renameOrganization':
        return found.rename({ name: label, by });
      case 'deleteOrganization':
        return deleteOrganization(call, id, by);
      case 'inviteMember': {
        const address = body['email'] as string;
        return invite(call, id, { key: address, email: address, role }, by);
      }
      case 'withdrawInvitation':
        return found.withdrawInvitation({ key: email, by });
      case 'removeMember':
        return found.removeMember({ subject, by });
      case 'setMemberRole':
        return found.setRole({ subject, role, by });
      case 'repairMember': {
        const repaired = { subject, email: '', emailKey: '', display: subject };
        return repairMember(call, id, { person: repaired, role }, by);
      }
      case 'disableOrganization':
        return found.disable({ by });
      case 'enableOrganization':
        return found.enable({ by });
      default:
        throw new Error(`the driver does not know ${name}`);
    }
  }

  async #doneToProject(
    name: string,
    input: Input & { readonly projectId: string },
    by: Actor,
  ): Promise<Result<unknown>> {
    const call = this.#call;
    const { projectId: id, name: label, body = {} } = input;
    if (label !== undefined) return this.#doneToService(name, input, by);
    const { name: renamed, organizationId } = body as { name: string; organizationId: string };
    switch (name) {
      case 'getProject':
        return call(project, id).summary();
      case 'createProject':
        return createProject(call, id, { organizationId, name: renamed }, by);
      case 'renameProject':
        return call(project, id).rename({ name: renamed, by });
      case 'deleteProject':
        return deleteProject(call, id, by);
      default:
        throw new Error(`the driver does not know ${name}`);
    }
  }

  async #doneToService(
    route: string,
    { projectId, name = '', body }: Input & { readonly projectId: string },
    by: Actor,
  ): Promise<Result<unknown>> {
    const call = this.#call;
    const key = { project: projectId, service: name };
    const found = call(service, `${projectId}/${name}`);
    switch (route) {
      case 'getService':
      case 'getServiceHistory':
        return found.get();
      case 'applyService':
        return applyService(call, key, body as unknown as Descriptor, by);
      case 'exposeService': {
        const state = await found.get();
        if (!state.isOk) return state;
        return exposeService(call, key, `${name}-${projectId}.svc.test`, by);
      }
      case 'unexposeService':
        return unexposeService(call, key, by);
      case 'deleteService':
        return deleteService(call, key, by);
      case 'pauseService':
        return found.pause({ by });
      case 'resumeService':
        return found.resume({ by });
      case 'restartService':
        return found.restart({ by });
      default:
        throw new Error(`the driver does not know ${route}`);
    }
  }

  /** Returns the part of the answer that the reference knows. */
  async #body(name: keyof typeof ROUTES, input: Input, result: Result<unknown>): Promise<unknown> {
    const value = result.isOk ? result.value : undefined;
    if (name === 'whoami')
      return (value as { id: string; name: string; role: string }[]).map((each) => [
        each.id,
        each.name,
        each.role,
      ]);
    if (name === 'getOrganization') {
      const found = value as { name: string; projects: number; disabled: boolean; role?: string };
      return [input.organizationId, found.name, found.projects, found.disabled, found.role ?? null];
    }
    if (name === 'listMembers') {
      const { members, invitations } = value as Record<string, Record<string, { role: Role }>>;
      return [members!, invitations!].map((each) =>
        sortedRows(Object.keys(each).map((id) => [id, each[id]!.role])),
      );
    }
    if (name === 'getProject') {
      const found = value as { name: string; organization: string; services: number };
      return [input.projectId, found.name, found.organization, found.services];
    }
    const child = this.#plain(service, `${input.projectId!}/${input.name!}`);
    if (name === 'getServiceHistory') return historyOf(child);
    const found = await child.get();
    if (!found.isOk) return undefined;
    const { generation, exposed, paused } = found.value;
    const parent = await this.#plain(project, input.projectId!).summary();
    const access = await this.#plain(
      organization,
      parent.isOk ? parent.value.organization : '-',
    ).access({ subject: this.#subject });
    const hostname = exposed?.hostname.replace(/\.svc\.test$/, '') ?? null;
    return [generation, hostname, paused, access.isOk && access.value.isDisabled];
  }

  /** Removes the run from the ids of a body. */
  #essence(body: unknown): unknown {
    return body === undefined
      ? undefined
      : (JSON.parse(JSON.stringify(body).replaceAll(this.#run, '')) as unknown);
  }
}

async function historyOf(child: EntityClient<typeof service>): Promise<string[]> {
  const entries: string[] = [];
  for (const { event } of await child.events(0, 1000)) {
    // They follow a moment later.
    if (event.type === 'suspended' || event.type === 'reinstated') continue;
    entries.push(`${event.type} ${event.generation} ${event.by?.subject ?? 'nobody'}`);
  }
  return entries.toReversed();
}
