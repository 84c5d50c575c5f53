// DeliveriesUnderTest: reports, attempts and the log of webhooks, on a clock of the test and journals in memory that outlive a crash. Receivers are
// functions, so that an answer takes the time that the test wants; test/webhooks/sending has the real ones.
import { onTestFinished } from 'vitest';
import type { DatasetReport } from '@svc/client';
import { createService, type Service } from '@svc/host';
import {
  SeededRandom,
  TestJournal,
  type TestJournalOptions,
  VirtualClock,
} from '@svc/host/testing';
import type { AttemptedSubscription } from '../../../webhooks/attempts/delivery-attempt.ts';
import type { MatchedEvent } from '../../../webhooks/consumers/fan-out.ts';
import type { Failure } from '../../../webhooks/consumers/notice-failures.ts';
import {
  Deliveries,
  DELIVERY_LIMITS_DEFAULT,
  type DeliveryLimits,
  type DeliveryStore,
  type DeliverySubscriptions,
} from '../../../webhooks/deliveries.ts';
import type { AttemptResult, Sender, SentDelivery } from '../../../webhooks/sending/sender.ts';
import { reported } from '../reported-dataset.ts';
import type { SimulatedTenant } from './simulated-tenant.ts';
import { SEGMENT_SETTINGS } from '../../../webhooks/segments/segment-settings.ts';

export const TENANT = 'acme';
/** Longer than the views of a segment wait for a group of events. */
export const VIEWS_BEHIND_MS = 1_000;

/** Answers a request after a time: with a status, or with the error of an attempt. */
export interface Answer {
  readonly status?: number;
  readonly error?: AttemptResult['error'];
  readonly afterMs?: number;
}

export interface SentRequest extends SentDelivery {
  readonly atMs: number;
}

interface SubscriptionUnderTest extends AttemptedSubscription {
  readonly id: string;
  readonly createdAtMs: number;
  readonly events?: readonly string[];
}

/** Subscriptions of one tenant. */
export class SubscriptionsUnderTest implements DeliverySubscriptions {
  readonly all = new Map<string, SubscriptionUnderTest>();
  readonly grants = new Map<string, Failure>();
  /** Exhausted deliveries about which it was asked whether others are to be told. */
  readonly asked: Failure[] = [];

  add(
    id: string,
    url = `http://${id}.example/hook`,
    more: Partial<SubscriptionUnderTest> = {},
  ): void {
    const defaults = { headers: {}, signing: { over: 'body' as const } };
    this.all.set(id, { id, url, secret: `secret of ${id}`, createdAtMs: 0, ...defaults, ...more });
  }

  find(_tenant: string, id: string): Promise<AttemptedSubscription | undefined> {
    return Promise.resolve(this.all.get(id));
  }

  matching(tenant: string, { type, about, occurredAtMs }: MatchedEvent) {
    const matching = [...this.all.values()].filter(
      ({ id, events = ['dataset.*'], createdAtMs }) =>
        tenant === TENANT &&
        id !== about &&
        createdAtMs <= occurredAtMs &&
        (events.includes(type) || (events.includes('dataset.*') && type.startsWith('dataset.'))),
    );
    return Promise.resolve(matching);
  }

  /** Steps of searches that each event needs. */
  steps = 0;

  searchSteps(): Promise<number> {
    return Promise.resolve(this.steps);
  }

  grantFailing(_tenant: string, failure: Failure): Promise<boolean> {
    this.asked.push(failure);
    const key = `${failure.deliveryId}/${failure.run}`;
    const isFirst = this.grants.size === 0;
    if (isFirst) this.grants.set(key, failure);
    return Promise.resolve(this.grants.has(key));
  }

  removedAtMs(): Promise<number | undefined> {
    return Promise.resolve(undefined);
  }
}

export class DeliveriesUnderTest {
  readonly clock = new VirtualClock(Date.UTC(2030, 0, 1));
  readonly subscriptions = new SubscriptionsUnderTest();
  readonly sent: SentRequest[] = [];
  /** The last request of each delivery that a real sender was asked for. */
  readonly underWay = new Map<string, SentDelivery>();
  readonly journals = new Map<number, TestJournal>();
  readonly logged: string[] = [];
  /** After which position each page of the log was read; undefined: it took any rows. */
  readonly logReads: (string | undefined)[] = [];
  /** Segments that cannot be removed. */
  readonly unremovable = new Set<number>();
  readonly #services = new Map<number, Service>();
  #sender: Sender | undefined;
  /** Decides about each request. */
  answer: (request: SentRequest) => Answer = () => ({ status: 200 });
  /** Decides about each write of a journal that is made from now on. */
  onWrite: NonNullable<TestJournalOptions['onWrite']> = () => 'stored';
  /** Returns the sender of a start. Absent: `answer` is asked, and nothing is sent. */
  newSender: (() => Sender) | undefined;
  /** Has the subscriptions, and crashes, too. Absent: `subscriptions` are asked. */
  tenant: SimulatedTenant | undefined;
  readonly #limits: DeliveryLimits;
  readonly #random = new SeededRandom(1n);
  #deliveries: Deliveries | undefined;
  #epoch = 0;
  #hasCrashed = false;

  /** `atEnd` has the end of it happen. Default: when the test has finished. */
  constructor(
    limits: Partial<DeliveryLimits> = {},
    atEnd: (end: () => Promise<void>) => void = onTestFinished,
  ) {
    this.#limits = { ...DELIVERY_LIMITS_DEFAULT, ...limits };
    atEnd(async () => {
      const stopped = this.#deliveries?.stop(0);
      // Attempts under way end within five seconds.
      await this.clock.advance(6_000);
      await stopped;
      await this.tenant?.stop();
      await this.#sender?.[Symbol.asyncDispose]();
    });
  }

  get now(): Deliveries {
    return this.#deliveries!;
  }

  async start(): Promise<void> {
    this.#hasCrashed = false;
    const { clock, journals } = this;
    this.#services.clear();
    const epoch = this.#epoch;
    const failed = () => {
      if (epoch !== this.#epoch) return;
      this.#hasCrashed = true;
      this.#cutOff();
    };
    const subscriptions = (await this.tenant?.start(failed)) ?? this.subscriptions;
    this.#deliveries = await this.#started(subscriptions, async (number, components) => {
      const journal =
        journals.get(number) ?? new TestJournal({ onWrite: (write) => this.onWrite(write) });
      journals.set(number, journal);
      const service = await createService({
        ...components,
        name: `deliveries-${number}`,
        http: false,
        journal: 'memory',
        log: 'none',
        settings: SEGMENT_SETTINGS,
        testing: { clock, random: this.#random, journal },
      });
      const view = service.view.bind(service);
      service.view = (definition, options) => {
        if (definition.id === 'log') this.logReads.push(options?.after);
        return view(definition, options);
      };
      this.#services.set(number, service);
      void service.failure.then(failed);
      return service;
    });
  }

  /** Starts a second sender of the segments that are open. */
  async startAnother(): Promise<void> {
    const { subscriptions } = this;
    await this.#started(subscriptions, (number) => Promise.resolve(this.#services.get(number)!));
  }

  async #started(
    subscriptions: DeliverySubscriptions,
    open: DeliveryStore['open'],
  ): Promise<Deliveries> {
    const { clock, journals, logged } = this;
    return await Deliveries.start({
      subscriptions,
      sender: { attempt: this.#attempts() },
      store: {
        list: () => Promise.resolve([...journals.keys()]),
        remove: (number) =>
          this.unremovable.has(number)
            ? Promise.reject(new Error('the folder is in use'))
            : Promise.resolve(void journals.delete(number)),
        open,
      },
      masterKey: Buffer.alloc(32, 'the master key of the tests'),
      clock,
      limits: this.#limits,
      log: ({ level, message, fields }) =>
        void logged.push(`${level} ${message} ${JSON.stringify(fields)}`),
    });
  }

  /** Power fails: what was not on disk is lost, and attempts under way are cut off. */
  async crash(): Promise<void> {
    this.#cutOff();
    const crashed = this.#deliveries;
    this.#deliveries = undefined;
    this.#epoch++;
    // It waits for attempts whose ends it does not learn, so what it has open is ended here.
    void crashed?.stop(0);
    void this.#sender?.[Symbol.asyncDispose]();
    this.#sender = undefined;
    const stopped = Promise.all([
      ...Array.from(this.#services.values(), (one) => one.stop(0)),
      this.tenant?.stop(),
    ]);
    await this.clock.until(() => settled(stopped));
  }

  /** Nothing is stored any more in any journal. */
  #cutOff(): void {
    for (const journal of this.journals.values()) journal.crash();
    this.tenant?.cutOff();
  }

  /** Whether the power has failed since the last start. */
  get hasCrashed(): boolean {
    return this.#hasCrashed;
  }

  /** Makes a request. Resolves with undefined if the power fails before the answer. */
  async untilCrash<Value>(request: () => Promise<Value>): Promise<Value | undefined> {
    const result = request().catch(() => undefined);
    await this.clock.until(async () => this.#hasCrashed || (await settled(result)));
    return this.#hasCrashed ? undefined : await result;
  }

  async report(id: string, changed: Partial<DatasetReport> = {}) {
    const result = this.now.intake.report(TENANT, id, reported(changed));
    await this.clock.until(() => settled(result));
    return await result;
  }

  /** Returns what makes the attempts of a start. After a crash nobody learns how they have ended. */
  #attempts(): (delivery: SentDelivery) => Promise<AttemptResult> {
    const sender = this.newSender?.();
    if (sender === undefined) return (delivery) => this.#attempt(delivery);
    const epoch = this.#epoch;
    this.#sender = sender;
    return async (delivery) => {
      this.underWay.set(delivery.deliveryId, delivery);
      const result = await sender.attempt(delivery);
      if (epoch !== this.#epoch) await new Promise(() => {});
      return result;
    };
  }

  async #attempt(delivery: SentDelivery): Promise<AttemptResult> {
    const request = { ...delivery, atMs: this.clock.nowMs() };
    this.sent.push(request);
    const { status = null, error = null, afterMs = 0 } = this.answer(request);
    const epoch = this.#epoch;
    await new Promise<void>((resolve) => this.clock.after(afterMs, resolve));
    if (epoch !== this.#epoch) await new Promise(() => {});
    const isDelivered = status !== null && status >= 200 && status < 300;
    return { isDelivered, status, error, durationMs: afterMs };
  }
}

async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}
