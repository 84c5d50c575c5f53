// DeliveryAttempt: makes one attempt of a delivery: begins it in its entity, sends the request, and ends it there.
//
// Invariants
// - Nothing is sent before `begin` is on disk.
// - It never rejects. What it could not store is found later: the entity knows what was begun.
import type { Clock } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import type { Service } from '@svc/host';
import { INTERRUPTED_MS, type NextAttempt, PAUSE_MS } from '../model/attempt-schedule.ts';
import { delivery as deliveryEntity } from '../model/delivery.ts';
import type { EventBodies } from '../log/event-bodies.ts';
import type { Segment, Segments } from '../segments/segments.ts';
import type { AttemptResult, SentDelivery } from '../sending/sender.ts';
import type { Shown } from './attempt-queue.ts';
import { type DueDelivery, hostOf } from './due-delivery.ts';

/** A subscription as it is when an attempt begins. */
export interface AttemptedSubscription {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signing: { readonly over: 'body' | 'path' };
  readonly secret: string;
  readonly previous?: { readonly secret: string; readonly untilMs: number } | undefined;
}

export interface DeliveryAttemptOptions {
  readonly segments: Pick<Segments, 'find' | 'opening'>;
  /** Finds a subscription; undefined: it is deleted. */
  readonly find: (tenant: string, id: string) => Promise<AttemptedSubscription | undefined>;
  readonly bodies: EventBodies;
  readonly sender: { attempt(delivery: SentDelivery): Promise<AttemptResult> };
  readonly clock: Clock;
  readonly log: Log;
  /** Receives the result of each attempt. */
  readonly ended: (result: AttemptResult) => void;
}

export interface AttemptOutcome extends Shown {
  /** Null: there is no further attempt. */
  readonly next: NextAttempt | null;
}

/** How often the end of an attempt is stored again, and the pause before, in which a journal may recover. */
const ENDS_MAX = 5;
const END_PAUSE_MS = 1_000;
const REPORT_PAUSE_MS = 60_000;
/** A receiver whose answer takes longer is scheduled like one that gives none. */
const SLOW_MS = 2_500;

export class DeliveryAttempt {
  readonly #options: DeliveryAttemptOptions;
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: DeliveryAttemptOptions) {
    this.#options = options;
  }

  async make(delivery: DueDelivery): Promise<AttemptOutcome> {
    const { segments, clock } = this.#options;
    const { run, number } = delivery;
    // Deliveries are opened from the moment on in which their segment is.
    const segment = segments.find(delivery.segment) ?? (await segments.opening(delivery.segment));
    // It has expired.
    if (segment === undefined) return { next: null };
    try {
      return await this.#made(segment, delivery);
    } catch (error) {
      this.#report(delivery, error);
      // Whether it has begun is not known; the entity says so when it is tried again.
      return { next: { run, number, dueAtMs: clock.nowMs() + PAUSE_MS } };
    }
  }

  /** Logs why attempts cannot be made, at most once a minute: it concerns many of them, and each is tried again. */
  #report({ id }: DueDelivery, error: unknown): void {
    const { clock, log } = this.#options;
    const code = error instanceof SvcError ? error.code : undefined;
    const nowMs = clock.monotonicMs();
    if (code === 'SVC_STOPPING' || nowMs < this.#quietUntilMs) return;
    this.#quietUntilMs = nowMs + REPORT_PAUSE_MS;
    log({
      level: code === undefined ? 'error' : 'warn',
      message: 'an attempt of a delivery could not be made; it is tried again',
      fields: { delivery: id, ...(code !== undefined && { code }), error: String(error) },
    });
  }

  async #made(segment: Segment, delivery: DueDelivery): Promise<AttemptOutcome> {
    const { find, bodies, sender, clock, ended } = this.#options;
    const { service } = segment;
    const { id, tenant, subscription: subscriptionId, run, number } = delivery;
    const entity = service.call(deliveryEntity, id);
    const subscription = await find(tenant, subscriptionId);
    if (subscription === undefined) {
      await entity.close({ error: 'subscription_deleted' });
      return { next: null };
    }
    const { url } = subscription;
    const known = await entity.about();
    if (!known.isOk || known.value === null) return { next: null };
    const about = known.value;
    const body = await bodies.read(segment, about);
    const begun = await entity.begin({ run, number, url });
    if (!begun.isOk) return { next: null };
    if (!begun.value.hasBegun) return { next: begun.value.next };
    const begunMs = clock.monotonicMs();
    const result = await sender.attempt({
      ...signedWith(subscription, clock.nowMs()),
      eventType: about.eventType,
      deliveryId: id,
      body: Buffer.from(body),
    });
    // The end of a body that is sent slowly is awaited, too.
    const isSilent = result.status === null || clock.monotonicMs() - begunMs > SLOW_MS;
    ended(result);
    const next = await this.#end(service, delivery, result);
    return { next, host: hostOf(url), isSilent };
  }

  /** Stores the result. Resolves with the next attempt; if it could not be stored, with that after an interrupted one. */
  async #end(
    service: Service,
    { id, run, number }: DueDelivery,
    { isDelivered, status, error, durationMs }: AttemptResult,
  ): Promise<NextAttempt | null> {
    const { clock } = this.#options;
    const end = { run, number, isDelivered, status, error, durationMs: Math.round(durationMs) };
    for (let times = 1; ; times++)
      try {
        // oxlint-disable-next-line no-await-in-loop -- it is stored again only if it could not be
        const next = await service.call(deliveryEntity, id).end(end);
        return next.isOk ? next.value : null;
      } catch (failure) {
        if (!(failure instanceof SvcError)) throw failure;
        if (times === ENDS_MAX || failure.code === 'SVC_STOPPING')
          return { run, number: number + 1, dueAtMs: clock.nowMs() + INTERRUPTED_MS };
        // oxlint-disable-next-line no-await-in-loop -- the journal is given time
        await new Promise<void>((resolve) => void clock.after(END_PAUSE_MS, resolve));
      }
  }
}

function signedWith(
  { url, headers, signing, secret, previous }: AttemptedSubscription,
  nowMs: number,
): Pick<SentDelivery, 'url' | 'headers' | 'over' | 'secret' | 'previousSecret'> {
  const { over } = signing;
  const hasPrevious = previous !== undefined && nowMs < previous.untilMs;
  return { url, headers, over, secret, ...(hasPrevious && { previousSecret: previous.secret }) };
}
