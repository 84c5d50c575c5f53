// HistoryView: the entries of the histories of services. A service's events are its history; the rows have what an entry shows,
// so that reading a history does not read every descriptor that there was. They stay when the service is deleted.
import { Type } from 'typebox';
import { HISTORY_KINDS } from '@svc/client';
import { defineView } from '@svc/host';
import { Actor } from '../model/actor.ts';
import { service } from '../model/service.ts';

export const HistoryRow = Type.Object({
  /** `<project>/<name>`. */
  service: Type.String(),
  /** Number of the event in the service's history. */
  seq: Type.Integer(),
  kind: Type.Enum([...HISTORY_KINDS]),
  generation: Type.Integer(),
  /** Absent: the entry was recorded before actors were tracked. */
  by: Type.Optional(Actor),
  atMs: Type.Optional(Type.Integer()),
});

const ofService = Type.Object({ service: Type.String() });

export const historyView = defineView({
  id: 'history',
  version: '1',
  row: HistoryRow,
  from: [
    {
      entity: service,
      keys: (_, { entityId, seq }) => [`${entityId}/${seq}`],
      fold(_, { type, generation, by, atMs }, { entityId, seq, put }) {
        return put({
          service: entityId,
          seq,
          kind: type,
          generation,
          ...(by !== undefined && { by }),
          ...(atMs !== undefined && { atMs }),
        });
      },
    },
  ],
  indexes: [['service', 'seq']],
  queries: {
    ofService: { where: 'service = :service order by seq desc', parameters: ofService },
  },
});
