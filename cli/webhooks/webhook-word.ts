// WebhookWord: the subscription or the delivery that a command is about.
import type { WordDescription } from '../description.ts';
import type { Target } from '../platform/target.ts';
import { tenantOf } from './tenant-option.ts';

interface TenantValue {
  readonly tenant: string | undefined;
}

export const WEBHOOK_WORD: WordDescription = {
  name: 'ID',
  completes: { kind: 'names', command: 'webhooks list' },
};
export const DELIVERY_WORD: WordDescription = {
  name: 'DELIVERY',
  completes: { kind: 'names', command: 'webhooks deliveries' },
};

/** Returns a function that makes the input of a command whose first word is a subscription. */
export function webhookInput(command: string) {
  return ([webhookId]: readonly string[], options: TenantValue, target: Target) => ({
    tenantId: tenantOf(command, options, target),
    webhookId: webhookId!,
  });
}

/** Returns a function that makes the input of a command whose first word is a delivery. */
export function deliveryInput(command: string) {
  return ([deliveryId]: readonly string[], options: TenantValue, target: Target) => ({
    tenantId: tenantOf(command, options, target),
    deliveryId: deliveryId!,
  });
}
