// Workload: what is to be remembered of what runs of a service, over a restart of the control plane while the orchestrator
// is down: how the last rollout ended, and up to which generation nothing is left. Its id is `<project>/<name>`.
//
// Invariant: what it stores is bounded by what members do. A rollout, which is known by incarnation, generation and number of
// instances, ends at most twice: it fails, and it is complete. Whether instances are ready changes nothing here.
import { Type } from 'typebox';
import { defineEntity, type ValueOf } from '@svc/host';

const Text = Type.String();
const Count = Type.Integer();

/** The end of a rollout, and what ran then. */
export const RolloutEnd = Type.Object({
  incarnation: Text,
  generation: Count,
  wantedInstances: Count,
  readyInstances: Count,
  updatedInstances: Count,
  /** Why it has failed. Absent: it is complete. */
  failure: Type.Optional(Text),
  database: Type.Optional(Text),
});
export type RolloutEnd = ValueOf<typeof RolloutEnd>;

const Workload = Type.Object({
  end: Type.Optional(RolloutEnd),
  /** The last generation of which nothing is left: the service was deleted with it. */
  goneGeneration: Count,
});

export const WorkloadEvent = Type.Union([
  Type.Object({ type: Type.Literal('rollout-ended'), end: RolloutEnd }),
  Type.Object({ type: Type.Literal('gone'), generation: Count }),
]);

export const workload = defineEntity({
  component: 'workload',
  state: { manifest: 'workload', schema: Workload },
  event: { manifest: 'workload-event', schema: WorkloadEvent },

  empty: () => ({ goneGeneration: 0 }),

  apply(state, event) {
    switch (event.type) {
      case 'rollout-ended':
        state.end = event.end;
        return state;
      case 'gone':
        return { goneGeneration: event.generation };
    }
  },

  commands: {
    /** The orchestrator has observed the end of a rollout. */
    endRollout: {
      input: RolloutEnd,
      handle(state, end, { persist, reply }) {
        if (isKnownEnd(state.end, end)) return reply();
        return persist({ type: 'rollout-ended', end }).thenReply();
      },
    },
    /** The orchestrator has observed that nothing is left of the service, which was deleted with this generation. */
    markGone: {
      input: Type.Object({ generation: Count }),
      handle(state, { generation }, { persist, reply }) {
        if (generation <= state.goneGeneration) return reply();
        return persist({ type: 'gone', generation }).thenReply();
      },
    },
  },

  queries: {
    /** The end of the last rollout. Absent: none has ended, or nothing is left of the service. */
    last: {
      reply: Type.Object({ end: Type.Optional(RolloutEnd) }),
      handle: ({ end }) => (end === undefined ? {} : { end }),
    },
  },
});

/** Returns whether the end says nothing new. A rollout that is complete stays so; one that has failed may become complete. */
export function isKnownEnd(stored: Readonly<RolloutEnd> | undefined, end: RolloutEnd): boolean {
  return (
    stored?.incarnation === end.incarnation &&
    stored.generation === end.generation &&
    stored.wantedInstances === end.wantedInstances &&
    (stored.failure === undefined || end.failure !== undefined)
  );
}
