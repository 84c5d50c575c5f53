// Notice: an event `webhook.failing`, which a run of a delivery has caused (document 3, "Events"). Its id is `noticeKey`.
import { Type } from 'typebox';
import { defineEntity } from '@svc/host';
import { bodyOf } from './event-body.ts';
import { StoredEvent } from './event.ts';
import { failingEventId } from './ids.ts';

export const FAILING = 'webhook.failing';

const NoticeEvent = Type.Union([
  Type.Object({
    type: Type.Literal('noticed'),
    /** Subscription that fails. It does not get the event. */
    about: Type.String(),
    event: StoredEvent,
  }),
]);

const nullable = <const Of extends Type.TSchema>(schema: Of) => Type.Union([schema, Type.Null()]);

export const notice = defineEntity({
  component: 'notice',
  state: { manifest: 'notice', schema: Type.Object({ isNoticed: Type.Boolean() }) },
  event: { manifest: 'notice-event', schema: NoticeEvent },

  empty: () => ({ isNoticed: false }),

  apply: () => ({ isNoticed: true }),

  commands: {
    notice: {
      input: Type.Object({
        tenant: Type.String(),
        run: Type.Integer(),
        subscriptionId: Type.String(),
        url: Type.String(),
        eventId: Type.String(),
        eventType: Type.String(),
        deliveryId: Type.String(),
        lastStatus: nullable(Type.Integer()),
        lastError: nullable(Type.String()),
        exhaustedAtMs: Type.Integer(),
      }),
      handle(state, { tenant, run, exhaustedAtMs, ...more }, { persist, reply }) {
        if (state.isNoticed) return reply();
        const { subscriptionId, url, eventId, eventType, deliveryId, lastStatus, lastError } = more;
        const data = {
          subscriptionId,
          url,
          eventId,
          eventType,
          deliveryId,
          lastStatus,
          lastError,
          exhaustedAt: new Date(exhaustedAtMs).toISOString(),
        };
        const id = failingEventId(deliveryId, run);
        const envelope = { id, type: FAILING, occurredAtMs: exhaustedAtMs, tenant };
        const event = { ...envelope, body: bodyOf({ ...envelope, data }) };
        return persist({ type: 'noticed', about: subscriptionId, event }).thenReply();
      },
    },
  },
});
