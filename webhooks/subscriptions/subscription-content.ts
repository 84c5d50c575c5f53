// SubscriptionContent: what a tenant decides about a subscription: where its deliveries go, which events it wants, and how they are
// signed. Every field is there; those that a request leaves out have their defaults.
import type { Subscription } from '@svc/client';

export type SubscriptionContent = Omit<Subscription, 'id' | 'createdAt' | 'secret'>;
export type FilterRequest = SubscriptionContent['filters'];
export type Signing = SubscriptionContent['signing'];
