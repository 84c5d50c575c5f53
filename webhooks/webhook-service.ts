// WebhookService: the whole webhook service, made of its parts: the journal of tenants with the API, the segments of deliveries, and the sender. It
// reads no settings and no environment.
//
// Invariant: deliveries ask the journal of tenants, so they begin after it and end before it.
import { createService, type Service, type ServiceOptions } from '@svc/host';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import type { SvcError } from '@svc/kit/svc-error';
import { removedTenants } from './consumers/removed-tenants.ts';
import { Deliveries, type DeliveryLimits } from './deliveries.ts';
import { type CheckedFor, webhookEndpoint } from './endpoints/webhook-endpoint.ts';
import { maySucceedLater } from './model/refusals.ts';
import { tenant } from './model/tenant.ts';
import { SEGMENT_SETTINGS } from './segments/segment-settings.ts';
import { type AdmittedReceivers, ReceiverAddresses } from './sending/receiver-addresses.ts';
import { Sender, type AttemptResult } from './sending/sender.ts';
import type { SenderLimits } from './sending/sender-limits.ts';
import { openStorage } from './storage/open-storage.ts';
import { sharedWarnings } from './storage/shared-warnings.ts';
import type { StorageChoice, WebhookStorage } from './storage/webhook-storage.ts';
import { checkMasterKey } from './subscriptions/master-key.ts';
import { SubscriptionFlows } from './subscriptions/subscription-flows.ts';
import { TenantKeys } from './subscriptions/tenant-keys.ts';
import { TenantSubscriptions } from './subscriptions/tenant-subscriptions.ts';

/** Choices of the installation. */
export interface WebhookSettings {
  readonly admitted: AdmittedReceivers;
  /** Certificates of further authorities whose receivers are trusted, in PEM. */
  readonly authorities?: readonly string[];
  /** Time after which a name server that does not answer is asked once more, in milliseconds. */
  readonly nameTimeoutMs: number;
  readonly deliveries: DeliveryLimits;
  readonly sender: SenderLimits;
}

/** Options of the service with the API, and those that all services of the program share. */
export type WebhookHost = Pick<
  ServiceOptions,
  'deployed' | 'management' | 'metrics' | 'observability' | 'settingNames' | 'settings'
> & { readonly http: Exclude<ServiceOptions['http'], false | undefined> };

export interface WebhookServiceParts {
  /** Where all is that is stored. */
  readonly stored: StorageChoice;
  readonly masterKey: Uint8Array;
  readonly checkedFor: CheckedFor;
  readonly settings: WebhookSettings;
  readonly host: WebhookHost;
  readonly log: Log;
  /** Receives the result of each attempt. */
  readonly attempted?: (result: AttemptResult) => void;
}

export interface WebhookService {
  /** Address of the API. */
  readonly url: string;
  /** Resolves when nothing is stored any more, and the program should end. */
  readonly failure: Promise<SvcError>;
  counts(): ReturnType<Deliveries['counts']>;
  segmentCounts(): ReturnType<Deliveries['segmentCounts']>;
  /** Begins no further attempt, waits for those under way, and stops. */
  stop(graceMs?: number): Promise<void>;
}

/** Rejects as `createService` does, and with SVC_MASTER_KEY_WRONG. */
export async function startWebhooks(given: WebhookServiceParts): Promise<WebhookService> {
  const parts = { ...given, log: sharedWarnings(given.log, SYSTEM_CLOCK) };
  const storage = await openStorage(parts.stored, parts.log);
  try {
    await checkMasterKey(storage.keyCheck, parts.masterKey);
    return await startOn(storage, parts);
  } catch (error) {
    storage.close();
    throw error;
  }
}

async function startOn(
  storage: WebhookStorage,
  parts: WebhookServiceParts,
): Promise<WebhookService> {
  const { masterKey, settings, log } = parts;
  const keys = new TenantKeys(masterKey, storage.salts);
  const { admitted, nameTimeoutMs, sender: limits } = settings;
  const { addressesMax } = limits;
  const addresses = new ReceiverAddresses({ admitted, addressesMax, nameTimeoutMs });
  const started = Promise.withResolvers<Started>();
  // Requests wait for it, and nobody else does if it fails.
  started.promise.catch(() => {});
  const subscriptions = new TenantSubscriptions({
    call: (...of) => control.call(...of),
    keys,
    clock: SYSTEM_CLOCK,
    log,
  });
  const flows = new SubscriptionFlows({ subscriptions, keys, addresses, clock: SYSTEM_CLOCK });
  const control = await startedControl(parts, {
    storage,
    flows,
    keys,
    started: started.promise,
  });
  const sender = new Sender({
    addresses,
    limits,
    ...(settings.authorities !== undefined && { authorities: settings.authorities }),
    clock: SYSTEM_CLOCK,
  });
  try {
    const deliveries = await startedDeliveries(parts, { storage, subscriptions, sender });
    started.resolve({ deliveries });
    return {
      url: control.url!,
      failure: Promise.race([control.failure, deliveries.failure]),
      counts: () => deliveries.counts(),
      segmentCounts: () => deliveries.segmentCounts(),
      async stop(graceMs) {
        await deliveries.stop(graceMs);
        await control.stop(graceMs);
        await sender[Symbol.asyncDispose]();
        storage.close();
      },
    };
  } catch (error) {
    started.reject(error);
    await control.stop(0);
    await sender[Symbol.asyncDispose]();
    log({ level: 'error', message: 'deliveries cannot be started' });
    throw error;
  }
}

interface Started {
  readonly deliveries: Deliveries;
}

interface ControlParts {
  readonly storage: WebhookStorage;
  readonly flows: SubscriptionFlows;
  readonly keys: TenantKeys;
  readonly started: Promise<Started>;
}

/** Starts the service of the tenants, with the API. */
function startedControl(
  { host, log, checkedFor }: WebhookServiceParts,
  { storage, flows, keys, started }: ControlParts,
): Promise<Service> {
  const endpoint = webhookEndpoint({
    flows,
    checkedFor,
    maySucceedLater,
    deliveries: async () => (await started).deliveries,
  });
  return createService({
    ...host,
    ...storage.tenants,
    name: 'webhooks',
    log,
    responses: { errors: 'plain', headers: { 'cache-control': 'no-store' }, position: false },
    entities: [tenant],
    consumers: [removedTenants(keys)],
    endpoints: [endpoint],
    version: '1',
  });
}

interface DeliveryNeeds {
  readonly storage: WebhookStorage;
  readonly subscriptions: TenantSubscriptions;
  readonly sender: Sender;
}

async function startedDeliveries(
  { masterKey, settings, host, log, attempted = () => {} }: WebhookServiceParts,
  { storage: { segments }, subscriptions, sender }: DeliveryNeeds,
): Promise<Deliveries> {
  const { deployed = false, settings: hostSettings = {} } = host;
  return await Deliveries.start({
    subscriptions,
    sender,
    store: {
      list: () => segments.list(),
      remove: (number) => segments.remove(number),
      open: (number, components) =>
        createService({
          ...components,
          ...segments.journalOf(number),
          name: 'webhook-deliveries',
          http: false,
          deployed,
          settings: { ...hostSettings, ...SEGMENT_SETTINGS },
          observability: { local: false },
          log,
        }),
    },
    masterKey,
    clock: SYSTEM_CLOCK,
    limits: settings.deliveries,
    log,
    attempted,
  });
}
