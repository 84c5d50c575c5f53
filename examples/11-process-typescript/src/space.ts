// A parking space: which car has it, and until when. A timer makes it free again.
import { defineEntity, Due } from '@svc/process';
import { Type } from 'typebox';

const Seconds = Type.Integer({ minimum: 1, maximum: 86_400 });

/** A free space has no plate. */
export const Space = Type.Object({ plate: Type.String(), cars: Type.Integer() });
export const Parking = Type.Object({
  plate: Type.String({ minLength: 1, maxLength: 20 }),
  seconds: Seconds,
});
const SpaceEvent = Type.Union([
  Type.Object({ type: Type.Literal('parked'), plate: Type.String(), seconds: Seconds }),
  Type.Object({ type: Type.Literal('extended'), seconds: Seconds }),
  Type.Object({ type: Type.Literal('left') }),
]);

export const space = defineEntity({
  component: 'parking-space',
  state: { manifest: 'space', schema: Space },
  event: { manifest: 'space-event', schema: SpaceEvent },

  empty: () => ({ plate: '', cars: 0 }),

  /** Returns a new state; the one that it is given is frozen. */
  apply(state, event) {
    switch (event.type) {
      case 'parked':
        return { plate: event.plate, cars: state.cars + 1 };
      case 'extended':
        return state;
      case 'left':
        return { ...state, plate: '' };
    }
  },

  commands: {
    park: {
      input: Parking,
      reply: Space,
      handle(state, { plate, seconds }, context) {
        if (state.plate !== '' && state.plate !== plate)
          return context.refuse(`${state.plate} has this space`, 'CONFLICT');
        const event =
          state.plate === ''
            ? ({ type: 'parked', plate, seconds } as const)
            : ({ type: 'extended', seconds } as const);
        // A timer of the same name replaces the one that is set.
        return context
          .persist(event)
          .thenSetTimer('leave', Due.after(seconds * 1000), context.self.leave())
          .thenReplyState();
      },
    },
    leave: {
      handle(state, context) {
        if (state.plate === '') return context.reply();
        return context.persist({ type: 'left' }).thenCancelTimer('leave').thenReply();
      },
    },
  },

  queries: {
    get: { reply: Space, handle: (state) => state },
  },
});
