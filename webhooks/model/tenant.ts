// Tenant: the subscriptions of a tenant. What a receiver is trusted with (URL, filters, headers and secrets) is sealed text, which the entity
// cannot read; flows open it.
//
// Invariants
// T1  A subscription is changed only by a command that names the revision which it was made for.
// T2  Each creation, change and deletion makes another `version`. None comes again, also after the tenant was removed.
// T3  Of one failing subscription, exhaustions whose times are within two hours have one notice at most.
// T4  Removing the tenant begins another `generation`, whose texts are sealed with another key.
import { Type } from 'typebox';
import { defineEntity, type ValueOf } from '@svc/host';
import { FailingGrants, grantedAt, isGranted, withGrant } from './failing-grants.ts';
import { NO_SUCH_SUBSCRIPTION, refuseChanged } from './refusals.ts';

/** Subscriptions of a tenant. */
export const SUBSCRIPTIONS_MAX = 100;
/** Bytes of what is sealed of all subscriptions of a tenant. The whole state is read for each command and query. */
export const SEALED_BYTES_MAX = 393_216;
/** Bits of a character of sealed text, which is base64url. */
const CHARACTER_BITS = 6;
const BYTE_BITS = 8;

const TOO_LARGE = `the subscriptions of the tenant would have more than ${SEALED_BYTES_MAX / 1_024} KiB of URLs, filters, headers and secrets together: shorten or delete some first`;

const Text = Type.String();
const Count = Type.Integer();
const TimeMs = Type.Integer();

export const StoredSubscription = Type.Object({
  id: Text,
  /** Counts the changes, from 1 on. */
  revision: Count,
  /** Counts the secrets, from 1 on. */
  rotation: Count,
  createdAtMs: TimeMs,
  /** The types of events, in clear: whether others listen decides about a notice. */
  events: Type.Array(Text),
  sealed: Text,
  /** Until when the former secret counts. */
  previousUntilMs: Type.Optional(TimeMs),
  /** The last notices about its exhausted deliveries. */
  failing: Type.Optional(FailingGrants),
});
export type StoredSubscription = ValueOf<typeof StoredSubscription>;

const Tenant = Type.Object({
  version: Count,
  /** Counts the removals. */
  generation: Count,
  /** Whether there was a subscription since the last removal. */
  isUsed: Type.Boolean(),
  removedAtMs: Type.Optional(TimeMs),
  /** Oldest first. */
  subscriptions: Type.Array(StoredSubscription),
});
type Tenant = ValueOf<typeof Tenant>;

const Change = { id: Text, events: Type.Array(Text), sealed: Text };

export const TenantEvent = Type.Union([
  Type.Object({ type: Type.Literal('created'), ...Change, createdAtMs: TimeMs }),
  Type.Object({ type: Type.Literal('replaced'), ...Change }),
  Type.Object({
    type: Type.Literal('rotated'),
    id: Text,
    sealed: Text,
    previousUntilMs: Type.Optional(TimeMs),
  }),
  Type.Object({ type: Type.Literal('deleted'), id: Text }),
  /** `generation`: the one that has ended. */
  Type.Object({ type: Type.Literal('removed'), generation: Count, removedAtMs: TimeMs }),
  Type.Object({
    type: Type.Literal('failing-granted'),
    id: Text,
    atMs: TimeMs,
    deliveryId: Text,
    run: Count,
  }),
  /** The clock was set back: the pause begins again. */
  Type.Object({ type: Type.Literal('failing-postponed'), id: Text, atMs: TimeMs }),
]);
export type TenantEvent = ValueOf<typeof TenantEvent>;

/** Reply to a request, now and when it is repeated with its key. It never has a secret. */
const Reply = Type.Object({ id: Text, revision: Count, rotation: Count });
export type ChangeReply = ValueOf<typeof Reply>;

/** Digest of the request under a key of the tenant; a repeated request seals anew, and has the same. */
const Digest = { digest: Text };
const Target = { id: Text, revision: Count };

const Version = Type.Object({
  version: Count,
  generation: Count,
  removedAtMs: Type.Optional(TimeMs),
});

export const tenant = defineEntity({
  component: 'tenant',
  state: { manifest: 'tenant', schema: Tenant },
  event: { manifest: 'tenant-event', schema: TenantEvent },

  empty: (): Tenant => ({ version: 0, generation: 0, isUsed: false, subscriptions: [] }),

  apply(state, event) {
    switch (event.type) {
      case 'created': {
        const { id, events, sealed, createdAtMs } = event;
        state.subscriptions.push({ id, revision: 1, rotation: 1, createdAtMs, events, sealed });
        state.isUsed = true;
        state.version++;
        return state;
      }
      case 'replaced':
        changeOne(state, event.id, (one) => {
          one.revision++;
          one.events = event.events;
          one.sealed = event.sealed;
        });
        return state;
      case 'rotated':
        changeOne(state, event.id, (one) => {
          one.revision++;
          one.rotation++;
          one.sealed = event.sealed;
          if (event.previousUntilMs === undefined) delete one.previousUntilMs;
          else one.previousUntilMs = event.previousUntilMs;
        });
        return state;
      case 'deleted':
        state.subscriptions = state.subscriptions.filter(({ id }) => id !== event.id);
        state.version++;
        return state;
      case 'removed':
        return {
          version: state.version + 1,
          generation: event.generation + 1,
          isUsed: false,
          removedAtMs: event.removedAtMs,
          subscriptions: [],
        };
      case 'failing-granted':
      case 'failing-postponed': {
        const one = state.subscriptions.find(({ id }) => id === event.id);
        if (one !== undefined) one.failing = withGrant(one.failing, event);
        return state;
      }
    }
  },

  comparedInput: digestAlone,
  commands: {
    /** Refused as changed in another generation than the one for whose key the text was sealed. */
    create: {
      input: Type.Object({ ...Digest, ...Change, generation: Count }),
      reply: Reply,
      handle(state, { id, events, sealed, generation }, { nowMs, persist, refuse }) {
        if (generation !== state.generation) return refuseChanged(nowMs);
        if (state.subscriptions.length >= SUBSCRIPTIONS_MAX)
          return refuse(
            `the tenant has ${SUBSCRIPTIONS_MAX} subscriptions, which is the most: delete one first`,
            'CONFLICT',
          );
        if (found(state, id) !== undefined) return refuseChanged(nowMs);
        if (!fits(state, sealed)) return refuse(TOO_LARGE, 'CONFLICT');
        return persist({ type: 'created', id, events, sealed, createdAtMs: nowMs }).thenReply({
          id,
          revision: 1,
          rotation: 1,
        });
      },
    },
    /** Without `changed` the request says what there is, and nothing is stored. */
    replace: {
      input: Type.Object({
        ...Digest,
        ...Target,
        changed: Type.Optional(Type.Object({ events: Type.Array(Text), sealed: Text })),
      }),
      reply: Reply,
      handle(state, { id, revision, changed }, { nowMs, persist, refuse, reply }) {
        const one = found(state, id);
        if (one === undefined) return refuse(NO_SUCH_SUBSCRIPTION, 'NOT_FOUND');
        if (!isAt(one, revision)) return refuseChanged(nowMs);
        const { rotation } = one;
        if (changed === undefined) return reply({ id, revision, rotation });
        const { events, sealed } = changed;
        if (sealed.length > one.sealed.length && !fits(state, sealed, one.sealed))
          return refuse(TOO_LARGE, 'CONFLICT');
        return persist({ type: 'replaced', id, events, sealed }).thenReply({
          id,
          revision: revision + 1,
          rotation,
        });
      },
    },
    rotate: {
      input: Type.Object({ ...Digest, ...Target, sealed: Text, graceMs: Count }),
      reply: Reply,
      handle(state, { id, revision, sealed, graceMs }, { nowMs, persist, refuse }) {
        const one = found(state, id);
        if (one === undefined) return refuse(NO_SUCH_SUBSCRIPTION, 'NOT_FOUND');
        if (!isAt(one, revision)) return refuseChanged(nowMs);
        const previousUntilMs = graceMs > 0 ? { previousUntilMs: nowMs + graceMs } : {};
        return persist({ type: 'rotated', id, sealed, ...previousUntilMs }).thenReply({
          id,
          revision: revision + 1,
          rotation: one.rotation + 1,
        });
      },
    },
    delete: {
      input: Type.Object({ id: Text }),
      handle(state, { id }, { persist, refuse }) {
        if (found(state, id) === undefined) return refuse(NO_SUCH_SUBSCRIPTION, 'NOT_FOUND');
        return persist({ type: 'deleted', id }).thenReply();
      },
    },
    /** Removes all subscriptions; a consumer removes the key of the generation. Without any since the last time it changes nothing. */
    remove: {
      handle({ isUsed, generation }, { nowMs, persist, reply }) {
        if (!isUsed) return reply();
        return persist({ type: 'removed', generation, removedAtMs: nowMs }).thenReply();
      },
    },
    /**
     * Replies whether an exhausted delivery has the other subscriptions get a notice. The same delivery and run get the same reply while they are among
     * the last granted ones. `atMs`: when it was exhausted.
     */
    grantFailing: {
      input: Type.Object({ subscriptionId: Text, deliveryId: Text, run: Count, atMs: TimeMs }),
      reply: Type.Boolean(),
      handle(state, { subscriptionId: id, deliveryId, run, atMs }, { nowMs, persist, reply }) {
        const one = found(state, id);
        if (one === undefined) return reply(false);
        if (isGranted(one.failing, { deliveryId, run })) return reply(true);
        if (!haveListener(state, id, atMs)) return reply(false);
        switch (grantedAt(one.failing, atMs, nowMs)) {
          case 'granted':
            return persist({ type: 'failing-granted', id, atMs, deliveryId, run }).thenReply(true);
          case 'postponed':
            return persist({ type: 'failing-postponed', id, atMs: nowMs }).thenReply(false);
          case 'refused':
            return reply(false);
        }
      },
    },
  },

  queries: {
    /** Changes with every change of the subscriptions. */
    version: {
      reply: Version,
      handle: ({ version, generation, removedAtMs }) => ({
        version,
        generation,
        ...(removedAtMs !== undefined && { removedAtMs }),
      }),
    },
    /** Oldest first. */
    subscriptions: {
      reply: Type.Object({
        version: Count,
        generation: Count,
        removedAtMs: Type.Optional(TimeMs),
        subscriptions: Type.Array(StoredSubscription),
      }),
      handle: ({ version, generation, removedAtMs, subscriptions }) => ({
        version,
        generation,
        ...(removedAtMs !== undefined && { removedAtMs }),
        subscriptions,
      }),
    },
    subscription: {
      input: Type.Object({ id: Text }),
      reply: Type.Object({ generation: Count, subscription: StoredSubscription }),
      handle(state, { id }, { refuse }) {
        const subscription = found(state, id);
        return subscription === undefined
          ? refuse(NO_SUCH_SUBSCRIPTION, 'NOT_FOUND')
          : { generation: state.generation, subscription };
      },
    },
  },
});

type Readable<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Readable<Value[Key]> }
  : Value;

function found(state: Readable<Tenant>, id: string): Readable<StoredSubscription> | undefined {
  return state.subscriptions.find((one) => one.id === id);
}

function isAt(one: Readable<StoredSubscription>, revision: number): boolean {
  return one.revision === revision;
}

/** Returns whether a tenant may have this text, too, or instead of another one. */
function fits({ subscriptions }: Readable<Tenant>, sealed: string, former = ''): boolean {
  const length = subscriptions.reduce((sum, one) => sum + one.sealed.length, sealed.length);
  return ((length - former.length) * CHARACTER_BITS) / BYTE_BITS <= SEALED_BYTES_MAX;
}

function changeOne(state: Tenant, id: string, change: (one: StoredSubscription) => void): void {
  const one = state.subscriptions.find((other) => other.id === id);
  if (one === undefined) return;
  change(one);
  state.version++;
}

/** Whether another subscription wants notices about failing ones, and has existed at that time. */
function haveListener({ subscriptions }: Readable<Tenant>, failing: string, atMs: number): boolean {
  return subscriptions.some(
    ({ id, events, createdAtMs }) =>
      id !== failing && createdAtMs <= atMs && events.includes('webhook.failing'),
  );
}

/** Returns the part of a command's input that is compared when the command is repeated with its key: sealed texts differ each time. */
function digestAlone(input: unknown): unknown {
  const { digest } = input as { readonly digest?: string };
  return digest ?? input;
}
