// TenantOption: the tenant of the commands for webhooks.
import type { OptionDescription } from '../description.ts';
import type { Target } from '../platform/target.ts';
import { UsageError } from '../usage-error.ts';

export const TENANT_OPTION = {
  type: 'string',
  value: 'ID',
  help: 'tenant',
  otherwise: "SVC_TENANT, or the context's tenant",
} as const satisfies OptionDescription;

/** Returns the tenant of a command. Throws UsageError if none is chosen. */
export function tenantOf(
  command: string,
  { tenant }: { readonly tenant: string | undefined },
  target: Target,
): string {
  const tenantId = tenant ?? target.tenant;
  if (tenantId !== undefined) return tenantId;
  throw new UsageError(
    `${command} needs a tenant: give --tenant ID, set SVC_TENANT, or svc context set NAME --tenant ID.`,
  );
}
