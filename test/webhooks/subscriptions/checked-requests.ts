// CheckedRequests: requests of subscriptions with what their checks make of them, where no receiver is admitted that is not of the internet.
import { ReceiverAddresses } from '../../../webhooks/sending/receiver-addresses.ts';
import type { SubscriptionContent } from '../../../webhooks/subscriptions/subscription-content.ts';
import {
  type Checked,
  checkedContent,
} from '../../../webhooks/subscriptions/subscription-request.ts';

export const URL_GIVEN = 'https://receiver.example/hook?tenant=a%20b';
export const ADDRESS_LIMITS = { addressesMax: 8, nameTimeoutMs: 100 };
export const addresses = new ReceiverAddresses({
  admitted: { networks: [], domains: [] },
  ...ADDRESS_LIMITS,
});

export function contentOf(request: object): SubscriptionContent {
  return valueOf(checkedContent(request, addresses));
}

export function valueOf<Value>(checked: Checked<Value>): Value {
  if (!checked.isValid) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

/** Lines `path reason` of the problems. */
export function linesOf(checked: Checked<unknown>): string[] {
  return checked.isValid ? [] : checked.problems.map(({ path, reason }) => `${path} ${reason}`);
}

export function problemsOf(request: unknown): string[] {
  return linesOf(checkedContent(request, addresses));
}
