// OrganizationView: every organization that exists, for platform administrators. Members find theirs through the person.
import { Type } from 'typebox';
import { defineView } from '@svc/host';
import { organization } from '../model/organization.ts';

export const OrganizationRow = Type.Object({
  id: Type.String(),
  name: Type.String(),
  disabled: Type.Boolean(),
});

export const organizationView = defineView({
  id: 'organizations',
  version: '1',
  row: OrganizationRow,
  from: [
    {
      entity: organization,
      fold(row, event, { key, put, remove, keep }) {
        if (event.type === 'created') return put({ id: key, name: event.name, disabled: false });
        if (event.type === 'deleted') return remove();
        if (row === undefined) return keep();
        if (event.type === 'renamed') return put({ ...row, name: event.name });
        return event.type === 'disabled' || event.type === 'enabled'
          ? put({ ...row, disabled: event.type === 'disabled' })
          : keep();
      },
    },
  ],
  indexes: [['id']],
  queries: { all: { where: 'order by id' } },
});
