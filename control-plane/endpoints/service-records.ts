// The routes that show what happened to a service: the output of its instances, and its history.
import type { HistoryEntry } from '@svc/client';
import { Ok, refuse } from '@svc/host';
import { serviceId } from '../flows/service-id.ts';
import type { ListQueries } from '../views/list-queries.ts';
import { service } from '../model/service.ts';
import type { Orchestration } from '../orchestration/orchestration.ts';
import type { ApiHandlers } from './control-plane-table.ts';
import { unavailable } from './services.ts';

export function serviceRecordHandlers(
  orchestration: Orchestration,
  lists: ListQueries,
): ApiHandlers<'getServiceLogs' | 'getServiceHistory'> {
  return {
    async getServiceLogs({ input, given: { membership }, call }) {
      const { projectId: project, name, instance, previous = false, tail, since } = input;
      const key = { project, service: name };
      const state = await call(service, serviceId(key)).outline();
      if (!state.isOk) return state;
      const logs = await orchestration.logs(
        key,
        { state: state.value, isSuspended: membership.isDisabled },
        {
          previous,
          ...(instance !== undefined && { instance }),
          ...(tail !== undefined && { tail }),
          ...(since !== undefined && { sinceS: since }),
        },
      );
      if (logs.kind === 'unavailable') return unavailable(logs);
      if (logs.value.length > 0) return new Ok({ instances: logs.value });
      const missing = instance === undefined ? 'running instance' : 'instance of this name';
      return refuse(`the service has no ${missing}, so there are no logs`, 'NOT_FOUND');
    },
    async getServiceHistory({ input: { projectId: project, name }, call }) {
      const id = serviceId({ project, service: name });
      const state = await call(service, id).outline();
      if (!state.isOk) return state;
      const rows = await lists.history(id);
      return new Ok(
        rows.map(({ kind, generation, by, atMs }): HistoryEntry => ({
          kind,
          generation,
          ...(by !== undefined && { actor: by }),
          ...(atMs !== undefined && { at: new Date(atMs).toISOString() }),
        })),
      );
    },
  };
}
