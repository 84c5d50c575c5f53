// SubscriptionsUnderTest: the entities of tenants in a service of their own, with keys in a folder, and the flows of requests.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createService, type Result, type Service } from '@svc/host';
import { TestJournal, VirtualClock } from '@svc/host/testing';
import { removedTenants } from '../../../webhooks/consumers/removed-tenants.ts';
import { tenant } from '../../../webhooks/model/tenant.ts';
import { FolderSalts } from '../../../webhooks/subscriptions/salts.ts';
import { SubscriptionFlows } from '../../../webhooks/subscriptions/subscription-flows.ts';
import { TenantKeys } from '../../../webhooks/subscriptions/tenant-keys.ts';
import {
  type Call,
  TenantSubscriptions,
} from '../../../webhooks/subscriptions/tenant-subscriptions.ts';
import { keyedCalls } from '../../support/keyed-calls.ts';
import { addresses } from './checked-requests.ts';

export const MASTER_KEY = Uint8Array.from({ length: 32 }, (_, index) => index);

export interface SubscriptionsUnderTest {
  readonly service: Service;
  readonly call: Call;
  readonly keys: TenantKeys;
  readonly flows: SubscriptionFlows;
  readonly subscriptions: TenantSubscriptions;
  readonly clock: VirtualClock;
  readonly logged: readonly string[];
}

interface TestOptions {
  readonly folder?: string;
  readonly journal?: TestJournal;
  readonly clock?: VirtualClock;
  /** Default: in memory, as the test's. */
  readonly isOnDisk?: boolean;
  readonly cacheBytesMax?: number;
}

export async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-webhooks-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

export async function startSubscriptions({
  folder,
  journal = new TestJournal(),
  clock = new VirtualClock(),
  isOnDisk = false,
  cacheBytesMax,
}: TestOptions = {}): Promise<SubscriptionsUnderTest> {
  const dataFolder = folder ?? (await ownFolder());
  const keys = new TenantKeys(MASTER_KEY, await FolderSalts.open(dataFolder));
  const service = await createService({
    name: 'webhooks',
    entities: [tenant],
    consumers: [removedTenants(keys)],
    http: false,
    log: 'none',
    ...(isOnDisk
      ? { dataFolder: join(dataFolder, 'control'), testing: { clock } }
      : { journal: 'memory' as const, testing: { clock, journal } }),
  });
  onTestFinished(() => service.stop());
  const call: Call = (entity, id) => service.call(entity, id);
  const logged: string[] = [];
  const subscriptions = new TenantSubscriptions({
    call,
    keys,
    clock,
    log: ({ message, fields }) => void logged.push(`${message} ${JSON.stringify(fields)}`),
    ...(cacheBytesMax !== undefined && { cacheBytesMax }),
  });
  const flows = new SubscriptionFlows({ subscriptions, keys, addresses, clock });
  return { service, call, keys, flows, subscriptions, clock, logged };
}

/** Calls of a request with an idempotency key. */
export function callsOf(call: Call, requestKey: string): Call {
  return keyedCalls(call, requestKey);
}

export function accepted<Value>(result: Result<Value>): Value {
  if (!result.isOk) throw new Error(`refused: ${result.code} ${result.message}`);
  return result.value;
}

/** `ok`, or the code of a refusal. */
export function outcomeOf(result: Result<unknown>): string {
  return result.isOk ? 'ok' : (result.otherCode ?? result.code);
}
