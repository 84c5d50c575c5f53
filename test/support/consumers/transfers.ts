// Transfers between accounts: two entities, the consumer `ledger` between them, and an embedded service of them.
import { Type } from 'typebox';
import { expect, onTestFinished } from 'vitest';
import { orDatabase } from '../postgres/journal-tier.ts';
import {
  type ConsumerDefinition,
  createService,
  defineConsumer,
  defineEntity,
  type Service,
  type ServiceOptions,
} from '../../../host/embed.ts';

const Amount = Type.Object({ to: Type.String(), cents: Type.Integer() });
const Balance = Type.Object({ cents: Type.Integer(), bookings: Type.Integer() });

/** A transfer that is ordered, as often as one likes. */
export const transfer = defineEntity({
  component: 'transfer',
  state: { manifest: 'transfer-state', schema: Type.Object({}) },
  event: {
    manifest: 'transfer-event',
    schema: Type.Union([
      Type.Object({ type: Type.Literal('ordered'), to: Type.String(), cents: Type.Integer() }),
      Type.Object({ type: Type.Literal('noted') }),
    ]),
  },
  empty: () => ({}),
  apply: (state) => state,
  commands: {
    order: {
      input: Amount,
      handle: (_state, amount, { persist }) => persist({ type: 'ordered', ...amount }).thenReply(),
    },
  },
});

export const account = defineEntity({
  component: 'account',
  state: { manifest: 'account-state', schema: Balance },
  event: {
    manifest: 'account-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('booked'), cents: Type.Integer() })]),
  },
  empty: () => ({ cents: 0, bookings: 0 }),
  apply: ({ cents, bookings }, event) => ({ cents: cents + event.cents, bookings: bookings + 1 }),
  commands: {
    book: {
      input: Type.Integer(),
      handle: (_state, cents, { persist }) => persist({ type: 'booked', cents }).thenReply(),
    },
  },
  queries: { get: { reply: Balance, handle: (state) => state } },
});

/** Books each transfer with its account. */
export const ledger = defineConsumer({
  id: 'ledger',
  start: 'beginning',
  on: [
    {
      entity: transfer,
      async handle(event, { call, done, retry }) {
        if (event.type !== 'ordered') return done();
        const booked = await call(account, event.to).book(event.cents);
        return booked.isOk ? done() : retry(booked.message);
      },
    },
  ],
});

export async function serve(
  consumers: readonly ConsumerDefinition[],
  options: Partial<ServiceOptions> = {},
): Promise<Service> {
  const where =
    'dataFolder' in options || 'database' in options
      ? {}
      : await orDatabase(() => ({ journal: 'memory' as const }));
  const service = await createService({
    name: 'transfers',
    entities: [transfer, account],
    consumers,
    log: () => {},
    ...where,
    ...options,
  });
  onTestFinished(() => service.stop());
  return service;
}

export async function balance(service: Service, id: string): Promise<number> {
  const found = await service.call(account, id).get();
  return found.isOk ? found.value.cents : NaN;
}

export async function order(service: Service, id: string, to: string, cents = 1): Promise<void> {
  expect((await service.call(transfer, id).order({ to, cents })).isOk).toBe(true);
}
