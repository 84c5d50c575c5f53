// The routes of services: their states, and the changes that members make.
import type { ApiError } from '@svc/api/api-answer';
import { problemsText, type ServiceKey, type ServiceStatus } from '@svc/client';
import { Ok, refuse, respondError, type Refused, type Result } from '@svc/host';
import { SvcError } from '@svc/kit/svc-error';
import { actorOf } from '../access/caller-identity.ts';
import { disabledRefusal, type Authorized } from '../access/route-authorization.ts';
import { membershipInOrganizationOf } from '../access/membership.ts';
import { reauthorizationFor } from '../access/reauthorization.ts';
import { applyService } from '../flows/apply-service.ts';
import type { Call } from '../flows/call.ts';
import { deleteService } from '../flows/delete-service.ts';
import { exposeService, unexposeService } from '../flows/expose-service.ts';
import { serviceId } from '../flows/service-id.ts';
import type { ListQueries } from '../views/list-queries.ts';
import { NO_SUCH_PROJECT, SERVES_NO_HTTP } from '../model/refusals.ts';
import { service } from '../model/service.ts';
import type { Descriptor } from '../model/service-state.ts';
import type { Answered, Orchestration } from '../orchestration/orchestration.ts';
import type { ApiHandlers } from './control-plane-table.ts';
import { derivedHostname, type BaseDomain } from './derived-hostname.ts';

type ServiceRoute =
  | 'listServices'
  | 'getService'
  | 'applyService'
  | 'pauseService'
  | 'resumeService'
  | 'restartService'
  | 'exposeService'
  | 'unexposeService'
  | 'deleteService';

/** The parts of a request that name a service and its caller. */
interface ServiceRequest {
  readonly input: { readonly projectId: string; readonly name: string };
  readonly given: Authorized;
  readonly call: Call;
}

export interface ServiceHandlersOptions {
  readonly orchestration: Orchestration;
  readonly lists: ListQueries;
  readonly baseDomain: BaseDomain | undefined;
}

const STATUS_UNKNOWN =
  'the change is stored, but the service could not be read afterwards: read its status to see what became of it';

export function serviceHandlers({
  orchestration,
  lists,
  baseDomain,
}: ServiceHandlersOptions): ApiHandlers<ServiceRoute> {
  const statusAfter = async (request: ServiceRequest, change: Result<unknown>) =>
    change.isOk ? await statusAfterChange(request, orchestration) : change;
  return {
    async listServices({ input: { projectId: project }, given: { membership } }) {
      const rows = await lists.services(project);
      const { isDisabled: isSuspended } = membership;
      return new Ok(
        rows.map(({ name, state }) =>
          orchestration.lastStatus({ project, service: name }, { state, isSuspended }),
        ),
      );
    },
    async getService(request) {
      return await statusOf(request, orchestration);
    },
    async applyService(request) {
      const { input, given, call } = request;
      const key = keyOf(input);
      const descriptor = input.body as Descriptor;
      const admitted = orchestration.runsNothing
        ? request
        : await judgedByOrchestrator(request, descriptor, orchestration);
      if (!('given' in admitted)) return admitted;
      const by = actorOf(given.caller);
      const reauthorization = reauthorizationFor('applyService', given, call);
      return await statusAfter(
        admitted,
        await applyService(call, key, descriptor, by, reauthorization),
      );
    },
    async pauseService(request) {
      return await statusAfter(request, await entityOf(request).pause(byOf(request)));
    },
    async resumeService(request) {
      return await statusAfter(request, await entityOf(request).resume(byOf(request)));
    },
    async restartService(request) {
      return await statusAfter(request, await entityOf(request).restart(byOf(request)));
    },
    async exposeService(request) {
      const key = keyOf(request.input);
      const state = await entityOf(request).get();
      if (!state.isOk) return state;
      if (state.value.exposed !== undefined) return await statusOf(request, orchestration);
      if (state.value.descriptor?.http === false) return refuse(SERVES_NO_HTTP, 'CONFLICT');
      const derived = derivedHostname(key, baseDomain);
      if ('reason' in derived) return refuse(derived.reason, 'CONFLICT');
      const { given, call } = request;
      const by = actorOf(given.caller);
      const reauthorization = reauthorizationFor('exposeService', given, call);
      const exposed = await exposeService(call, key, derived.hostname, by, reauthorization);
      return await statusAfter(request, exposed);
    },
    async unexposeService(request) {
      const { input, given, call } = request;
      const unexposed = await unexposeService(call, keyOf(input), actorOf(given.caller));
      return await statusAfter(request, unexposed);
    },
    async deleteService({ input, given, call }) {
      return await deleteService(call, keyOf(input), actorOf(given.caller));
    },
  };
}

/** Returns the refusal of a descriptor that the orchestrator cannot run, or the request, which has waited for that. */
async function judgedByOrchestrator<Request extends ServiceRequest>(
  request: Request,
  descriptor: Descriptor,
  orchestration: Orchestration,
): Promise<Request | Refused | ApiError> {
  const key = keyOf(request.input);
  const state = await request.call(service, serviceId(key)).desired();
  if (!state.isOk) return state;
  const problems = await orchestration.problems(key, state.value, descriptor);
  const admitted = await reauthorized(request);
  return 'given' in admitted && problems.length > 0
    ? respondError(400, problemsText(problems))
    : admitted;
}

/** Judges the membership again, after a wait in which the caller may have been removed, or the organization disabled. */
async function reauthorized<Request extends ServiceRequest>(
  request: Request,
): Promise<Request | Refused> {
  const { input, given, call } = request;
  const { caller } = given;
  const membership = await membershipInOrganizationOf(call, input.projectId, caller);
  if (membership?.role === undefined) return refuse(NO_SUCH_PROJECT, 'NOT_FOUND');
  return disabledRefusal(membership) ?? { ...request, given: { caller, membership } };
}

/** Returns the present status. Whether it is suspended is what the organization says now. */
async function statusOf(
  request: ServiceRequest,
  orchestration: Orchestration,
): Promise<Result<ServiceStatus>> {
  const state = await entityOf(request).outline();
  if (!state.isOk) return state;
  const { isDisabled: isSuspended } = request.given.membership;
  const key = keyOf(request.input);
  return new Ok(await orchestration.status(key, { state: state.value, isSuspended }));
}

/** Returns the status that follows from a change that is stored. */
async function statusAfterChange(
  request: ServiceRequest,
  orchestration: Orchestration,
): Promise<Result<ServiceStatus> | ApiError> {
  try {
    return await statusOf(request, orchestration);
  } catch (error) {
    // Such failures are answered 503 as a rule, which says that nothing was done.
    if (error instanceof SvcError) return respondError(504, STATUS_UNKNOWN);
    throw error;
  }
}

function keyOf({ projectId, name }: ServiceRequest['input']): ServiceKey {
  return { project: projectId, service: name };
}

function entityOf({ call, input }: ServiceRequest) {
  return call(service, serviceId(keyOf(input)));
}

function byOf({ given: { caller } }: ServiceRequest) {
  return { by: actorOf(caller) };
}

/** The orchestrator could not be asked, and nothing was done. */
export function unavailable({
  reason,
}: Extract<Answered<unknown>, { kind: 'unavailable' }>): ApiError {
  return respondError(503, reason, { headers: { 'retry-after': '1' } });
}
