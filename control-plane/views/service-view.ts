// ServiceView: the services that exist, by their projects, each with as much of its state as a status needs. The environment,
// which may be large or secret, and other fields of the descriptor are left out.
import { Type } from 'typebox';
import { defineView } from '@svc/host';
import { serviceKeyOf } from '../flows/service-id.ts';
import { service } from '../model/service.ts';
import {
  Service,
  applyToService,
  emptyService,
  outlineOf,
  type ServiceEvent,
} from '../model/service-state.ts';

export const ServiceRow = Type.Object({
  project: Type.String(),
  name: Type.String(),
  state: Service,
});

const ofProject = Type.Object({ project: Type.String() });

export const serviceView = defineView({
  id: 'services',
  version: '1',
  row: ServiceRow,
  from: [
    {
      entity: service,
      fold(row, event, { key, put, remove, keep }) {
        if (event.type === 'deleted') return remove();
        if (row === undefined && event.type !== 'applied') return keep();
        const { project, service: name } = serviceKeyOf(key);
        const state = row === undefined ? emptyService() : ({ ...row.state } as Service);
        return put({
          project,
          name,
          state: applyToService(state, withoutDetails(event as ServiceEvent)),
        });
      },
    },
  ],
  indexes: [['project', 'name']],
  queries: {
    ofProject: { where: 'project = :project order by name', parameters: ofProject },
  },
});

function withoutDetails(event: ServiceEvent): ServiceEvent {
  if (event.type !== 'applied') return event;
  return { ...event, descriptor: outlineOf(event.descriptor), hostnames: [], freed: [] };
}
