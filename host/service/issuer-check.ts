// IssuerCheck refuses a module that asks for access tokens where nothing says whose tokens count: its routes would be closed to
// everybody.
import type { ModuleDescriptor } from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import type { TokenSources } from './settings.ts';

/** Throws SVC_SETTING_INVALID. */
export function checkIssuer(
  { endpoints }: Pick<ModuleDescriptor, 'endpoints'>,
  { issuers, developmentKeyFile }: TokenSources,
): void {
  if (issuers.length > 0 || developmentKeyFile !== undefined) return;
  const asking = endpoints.find(
    ({ bearer, routes }) =>
      bearer !== undefined || routes.some((route) => route.bearer !== undefined),
  );
  if (asking === undefined) return;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The endpoint '${asking.name}' asks callers for an access token, and svc.auth.issuer is not set. Say whose tokens count: --set svc.auth.issuer=URL --set svc.auth.audience=NAME; or --development-tokens, for those that svc token makes; in an installation, auth: platform in the descriptor of the service. docs/how-to/bearer-tokens.md explains both.`,
  );
}
