// SubscriptionFlows: what the routes of subscriptions do. A flow checks the request, opens what is stored, seals what comes of it, and sends the
// entity of the tenant one command.
//
// Invariants
// F1  A request that is repeated with its idempotency key changes nothing more. Its answer is made of what is stored: the reply that is kept names
//     subscription and rotation alone. Once the secret that it showed is no longer in use, it is refused.
// F2  Changes of one subscription that are requested at the same time are made one after the other.
// F3  A secret is in the answers of creation and rotation, and nowhere else.
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { problemsText, type Subscription } from '@svc/client';
import { Ok, type Result, refuse } from '@svc/host';
import type { Clock } from '@svc/kit/clock';
import { NO_SUCH_SUBSCRIPTION, isDecidedBefore, maySucceedLater } from '../model/refusals.ts';
import { tenant, type ChangeReply } from '../model/tenant.ts';
import {
  type OpenSubscription,
  type Opened,
  contentOf,
  openedWith,
  sealedContent,
} from './open-subscription.ts';
import type { SubscriptionContent } from './subscription-content.ts';
import { newSubscriptionId } from './subscription-id.ts';
import {
  type Checked,
  checkedContent,
  checkedGracePeriod,
  checkedPatch,
} from './subscription-request.ts';
import type { TenantKeys } from './tenant-keys.ts';
import type { Call, TenantSubscriptions } from './tenant-subscriptions.ts';
import { Turns } from '../model/turns.ts';
import type { AddressJudge } from './url-problem.ts';

export interface SubscriptionFlowsOptions {
  readonly subscriptions: TenantSubscriptions;
  readonly keys: TenantKeys;
  readonly addresses: AddressJudge;
  /** The clock of the control service. */
  readonly clock: Clock;
}

const SECRET_BYTES = 32;
/** Runs of a flow while other requests change what it has read. */
const RUNS_MAX = 4;
/** Refusals of earlier requests with the same idempotency key that a request skips. Each of them left a few. */
const SKIPPED_MAX = 32;
const MS_PER_SECOND = 1_000;

export class SubscriptionFlows {
  readonly #subscriptions: TenantSubscriptions;
  readonly #keys: TenantKeys;
  readonly #addresses: AddressJudge;
  readonly #clock: Clock;
  /** Changes by tenant and subscription. */
  readonly #turns = new Turns();

  constructor({ subscriptions, keys, addresses, clock }: SubscriptionFlowsOptions) {
    this.#subscriptions = subscriptions;
    this.#keys = keys;
    this.#addresses = addresses;
    this.#clock = clock;
  }

  /** `call`: that of the request, here and below. `request`: its body, as parsed JSON. */
  async create(call: Call, tenantId: string, request: unknown): Promise<Result<Subscription>> {
    const checked = checkedContent(request, this.#addresses);
    if (!checked.isValid) return refusedFor(checked);
    const content = checked.value;
    return this.#inTime(async () => {
      const client = call(tenant, tenantId);
      const version = await client.version();
      if (!version.isOk) return version;
      const { generation } = version.value;
      const key = await this.#keys.make(tenantId, generation);
      const id = newSubscriptionId(this.#clock.nowMs());
      const { events } = content;
      const created = await this.#changing(tenantId, () =>
        client.create({
          id,
          generation,
          events: [...events],
          digest: key.digest(JSON.stringify(content)),
          sealed: sealedContent(key, id, { ...content, secret: newSecret() }),
        }),
      );
      if (created.isOk) return await this.#withSecret(call, tenantId, created.value);
      // The tenant was removed meanwhile, perhaps before the salt was made, which nobody would remove any more.
      if (maySucceedLater(created) && !(await isStill(call, tenantId, generation)))
        await this.#keys.remove(tenantId, generation);
      return created;
    });
  }

  /** Oldest first. */
  async list(tenantId: string): Promise<readonly Subscription[]> {
    return (await this.#subscriptions.all(tenantId)).map(shown);
  }

  async get(tenantId: string, id: string): Promise<Result<Subscription>> {
    const found = await this.#subscriptions.find(tenantId, id);
    return found === undefined ? refuse(NO_SUCH_SUBSCRIPTION, 'NOT_FOUND') : new Ok(shown(found));
  }

  /** Replaces everything but id, secret and creation. */
  replace(
    call: Call,
    tenantId: string,
    id: string,
    request: unknown,
  ): Promise<Result<Subscription>> {
    return this.#change(call, tenantId, id, { replace: request }, () =>
      checkedContent(request, this.#addresses),
    );
  }

  /** Applies a merge patch (RFC 7396). */
  patch(call: Call, tenantId: string, id: string, patch: unknown): Promise<Result<Subscription>> {
    return this.#change(call, tenantId, id, { patch }, (content) =>
      checkedPatch(content, patch, this.#addresses),
    );
  }

  /** `request`: the body; undefined if there is none. */
  async rotate(
    call: Call,
    tenantId: string,
    id: string,
    request: unknown,
  ): Promise<Result<Subscription>> {
    const checked = checkedGracePeriod(request);
    if (!checked.isValid) return refusedFor(checked);
    const graceMs = checked.value * MS_PER_SECOND;
    return this.#inTurn(tenantId, id, async () => {
      const opened = await this.#opened(call, tenantId, id);
      if (!opened.isOk) return opened;
      const { key, subscription } = opened.value;
      const { previousSecret: _former, ...content } = contentOf(subscription);
      const rotated = await this.#changing(tenantId, () =>
        call(tenant, tenantId).rotate({
          id,
          graceMs,
          revision: subscription.revision,
          digest: key.digest(`rotate ${id} ${graceMs}`),
          sealed: sealedContent(key, id, {
            ...content,
            secret: newSecret(),
            ...(graceMs > 0 && { previousSecret: content.secret }),
          }),
        }),
      );
      return rotated.isOk ? this.#withSecret(call, tenantId, rotated.value) : rotated;
    });
  }

  async remove(call: Call, tenantId: string, id: string): Promise<Result<null>> {
    return await this.#changing(tenantId, () => call(tenant, tenantId).delete({ id }));
  }

  /** Removes all subscriptions of the tenant, which nothing opens any more. */
  async removeTenant(call: Call, tenantId: string): Promise<Result<null>> {
    return await this.#changing(tenantId, () => call(tenant, tenantId).remove());
  }

  async #change(
    call: Call,
    tenantId: string,
    id: string,
    request: object,
    changed: (content: SubscriptionContent) => Checked<SubscriptionContent>,
  ): Promise<Result<Subscription>> {
    return this.#inTurn(tenantId, id, async () => {
      const opened = await this.#opened(call, tenantId, id);
      if (!opened.isOk) return opened;
      const { key, subscription } = opened.value;
      const { secret, previousSecret, ...content } = contentOf(subscription);
      const checked = changed(content);
      if (!checked.isValid) return refusedFor(checked);
      const secrets = { secret, ...(previousSecret !== undefined && { previousSecret }) };
      const isSame = isDeepStrictEqual(checked.value, content);
      const replaced = await this.#changing(tenantId, () =>
        call(tenant, tenantId).replace({
          id,
          revision: subscription.revision,
          // Only a request without problems is shallow enough to be written.
          digest: key.digest(JSON.stringify([id, request])),
          ...(!isSame && {
            changed: {
              events: [...checked.value.events],
              sealed: sealedContent(key, id, { ...checked.value, ...secrets }),
            },
          }),
        }),
      );
      if (!replaced.isOk) return replaced;
      const now = await this.#opened(call, tenantId, id);
      return now.isOk ? new Ok(shown(now.value.subscription)) : now;
    });
  }

  /** Opens a subscription as it is stored now. */
  async #opened(call: Call, tenantId: string, id: string): Promise<Result<Opened>> {
    const found = await call(tenant, tenantId).subscription({ id });
    if (!found.isOk) return found;
    const { generation, subscription: stored } = found.value;
    const key = await this.#keys.find(tenantId, generation);
    // The tenant was removed meanwhile, and the consumer that removes keys was faster.
    if (key === undefined && !(await isStill(call, tenantId, generation)))
      return refuse(NO_SUCH_SUBSCRIPTION, 'NOT_FOUND');
    return new Ok(openedWith(key, tenantId, stored));
  }

  /** Shows the secret that a command has made, unless there is another one by now. */
  async #withSecret(
    call: Call,
    tenantId: string,
    { id, rotation }: ChangeReply,
  ): Promise<Result<Subscription>> {
    const opened = await this.#opened(call, tenantId, id);
    if (!opened.isOk)
      return refuse(
        'this request was carried out, and its subscription was deleted since',
        'CONFLICT',
      );
    const { subscription } = opened.value;
    if (subscription.rotation !== rotation)
      return refuse(
        'this request was carried out, and its secret was rotated since: rotate it again to get one',
        'CONFLICT',
      );
    return new Ok({ ...shown(subscription), secret: subscription.secret });
  }

  /** Has what is kept of a tenant read again before a change is acknowledged, or fails. */
  async #changing<Value>(
    tenantId: string,
    command: () => Promise<Result<Value>>,
  ): Promise<Result<Value>> {
    try {
      return await command();
    } finally {
      this.#subscriptions.changed(tenantId);
    }
  }

  /** Runs a flow that changes a subscription once those before have ended. */
  #inTurn<Value>(
    tenantId: string,
    id: string,
    flow: () => Promise<Result<Value>>,
  ): Promise<Result<Value>> {
    return this.#turns.take(JSON.stringify([tenantId, id]), () => this.#inTime(flow));
  }

  /** Runs a flow again while other requests change the same subscription. */
  async #inTime<Value>(flow: () => Promise<Result<Value>>): Promise<Result<Value>> {
    const sinceMs = this.#clock.nowMs();
    for (let runs = 1, skipped = 0; ;) {
      // oxlint-disable-next-line no-await-in-loop -- one run after the other
      const result = await flow();
      if (result.isOk || !maySucceedLater(result)) return result;
      // An earlier request with the same key got this refusal: the next command has another key.
      if (isDecidedBefore(result, sinceMs) && skipped < SKIPPED_MAX) skipped++;
      else if (runs++ === RUNS_MAX) return result;
    }
  }
}

async function isStill(call: Call, tenantId: string, generation: number): Promise<boolean> {
  const version = await call(tenant, tenantId).version();
  return version.isOk && version.value.generation === generation;
}

function refusedFor({ problems }: Checked<unknown> & { readonly isValid: false }) {
  return refuse(problemsText(problems), 'BAD_REQUEST');
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function shown(subscription: OpenSubscription): Subscription {
  const { id, url, events, filters, signing, headers, createdAtMs } = subscription;
  const createdAt = new Date(createdAtMs).toISOString();
  return { id, url, events, filters: filters.request, signing, headers, createdAt };
}
