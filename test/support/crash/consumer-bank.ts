// The components of the crash test of consumers: each event of a transfer is booked with an account, which notes for which event
// it was. Some events are tried twice, so that lanes are stored.
import { Type } from 'typebox';
import {
  createService,
  defineConsumer,
  defineEntity,
  type LogEntry,
  type Service,
} from '../../../host/embed.ts';

const Source = Type.Object({ transfer: Type.String(), seq: Type.Integer() });

export const TRANSFERS = ['t0', 't1', 't2', 't3'];
export const ACCOUNTS = ['a0', 'a1', 'a2'];
/** Every event whose number this divides is tried again once in each process. */
const RETRIED = 3;

export const transfer = defineEntity({
  component: 'transfer',
  state: { manifest: 'transfer-state', schema: Type.Object({}) },
  event: {
    manifest: 'transfer-event',
    schema: Type.Object({ type: Type.Literal('ordered'), to: Type.String() }),
  },
  empty: () => ({}),
  apply: (state) => state,
  commands: {
    order: {
      input: Type.String(),
      handle: (_state, to, { persist }) => persist({ type: 'ordered', to }).thenReply(),
    },
  },
});

export const account = defineEntity({
  component: 'account',
  state: { manifest: 'account-state', schema: Type.Object({}) },
  event: {
    manifest: 'account-event',
    schema: Type.Object({
      type: Type.Literal('booked'),
      transfer: Type.String(),
      seq: Type.Integer(),
    }),
  },
  empty: () => ({}),
  apply: (state) => state,
  commands: {
    book: {
      input: Source,
      handle: (_state, source, { persist }) => persist({ type: 'booked', ...source }).thenReply(),
    },
  },
});

function ledger() {
  const tried = new Set<string>();
  return defineConsumer({
    id: 'ledger',
    start: 'beginning',
    on: [
      {
        entity: transfer,
        async handle({ to }, { entityId, seq, call, done, retry }) {
          await call(account, to).book({ transfer: entityId, seq });
          const event = `${entityId} ${seq}`;
          if (seq % RETRIED !== 0 || tried.has(event)) return done();
          tried.add(event);
          return retry('once more', 1);
        },
      },
    ],
  });
}

export function openBank(dataFolder: string, log: (entry: LogEntry) => void): Promise<Service> {
  return createService({
    name: 'bank',
    dataFolder,
    entities: [transfer, account],
    consumers: [ledger()],
    log,
    http: false,
    settings: { 'svc.consumers.settle-ms': 1 },
  });
}
