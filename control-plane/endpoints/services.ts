// The routes of services: what they are, and the changes that members make.
import { Ok } from '@svc/host';
import { serviceId } from '../flows/service-id.ts';
import { service } from '../model/service.ts';
import type { Orchestration } from '../orchestration/orchestration.ts';
import type { ApiHandlers } from './api-routes.ts';

export function serviceHandlers(orchestration: Orchestration): ApiHandlers<'getService'> {
  return {
    async getService({ input: { projectId, name }, given: { membership }, call }) {
      const key = { project: projectId, service: name };
      const state = await call(service, serviceId(key)).get();
      if (!state.isOk) return state;
      const isSuspended = membership.isDisabled;
      return new Ok(await orchestration.status(key, { state: state.value, isSuspended }));
    },
  };
}
