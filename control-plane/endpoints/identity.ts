// The routes of identity: how to get a token, and who the caller is.
import type { LoginInformation } from '@svc/client';
import { Ok } from '@svc/host';
import { membershipsOf } from '../flows/change-members.ts';
import type { ApiHandlers } from './control-plane-table.ts';

export function identityHandlers(
  login: LoginInformation,
): ApiHandlers<'getLoginInformation' | 'whoami'> {
  return {
    async getLoginInformation() {
      return new Ok(login);
    },
    async whoami({ given: { caller }, call }) {
      const memberships = await membershipsOf(call, caller.subject);
      if (!memberships.isOk) return memberships;
      const organizations = memberships.value.map(({ id, name, role }) => ({ id, name, role }));
      return new Ok({ ...caller, organizations });
    },
  };
}
