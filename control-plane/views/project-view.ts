// ProjectView: the projects that exist, by their organizations.
import { Type } from 'typebox';
import { defineView } from '@svc/host';
import { project } from '../model/project.ts';

export const ProjectRow = Type.Object({
  id: Type.String(),
  name: Type.String(),
  organization: Type.String(),
});

const ofOrganization = Type.Object({ organization: Type.String() });

export const projectView = defineView({
  id: 'projects',
  version: '1',
  row: ProjectRow,
  from: [
    {
      entity: project,
      fold(row, event, { key, put, remove, keep }) {
        if (event.type === 'created')
          return put({ id: key, name: event.name, organization: event.organization });
        if (event.type === 'deleted') return remove();
        return row !== undefined && event.type === 'renamed'
          ? put({ ...row, name: event.name })
          : keep();
      },
    },
  ],
  indexes: [['organization']],
  queries: {
    ofOrganization: { where: 'organization = :organization', parameters: ofOrganization },
  },
});
