// KnownServices: the view of every service that the orchestrator may know: those that exist, and those that were deleted and
// of which something may be left. It is what all services are compared by, so a teardown is finished after any restart.
//
// Events of a service and of its workload come in any order: each changes fields of its own, and a row is removed once the
// service is deleted and gone.
import { Type } from 'typebox';
import { defineView, type ValueOf } from '@svc/host';
import { RolloutEnd, workload } from '../model/workload.ts';
import { service } from '../model/service.ts';

const Row = Type.Object({
  /** `<project>/<name>`. */
  id: Type.String(),
  isAlive: Type.Boolean(),
  generation: Type.Integer(),
  /** The last generation of which nothing is left. */
  goneGeneration: Type.Integer(),
  end: Type.Optional(RolloutEnd),
});
export type KnownService = ValueOf<typeof Row>;

function emptyRow(id: string): KnownService {
  return { id, isAlive: false, generation: 0, goneGeneration: 0 };
}

export const knownServices = defineView({
  id: 'known-services',
  version: '1',
  row: Row,
  from: [
    {
      entity: service,
      fold(row, event, { entityId, put, remove }) {
        const { generation } = event;
        const isAlive = event.type !== 'deleted';
        const next = { ...(row ?? emptyRow(entityId)), isAlive, generation };
        return isAlive || next.goneGeneration < generation ? put(next) : remove();
      },
    },
    {
      entity: workload,
      fold(row, event, { entityId, put, remove }) {
        const known = row ?? emptyRow(entityId);
        if (event.type === 'rollout-ended') return put({ ...known, end: event.end });
        const { isAlive, generation } = known;
        const goneGeneration = event.generation;
        const isGone = !isAlive && generation > 0 && goneGeneration >= generation;
        return isGone ? remove() : put({ id: entityId, isAlive, generation, goneGeneration });
      },
    },
  ],
  indexes: [],
  queries: { all: { where: '' } },
});
