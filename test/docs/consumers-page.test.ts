// The program of docs/how-to/consumers.md, and that it does what the page says.
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import { createService, defineConsumer, defineEntity } from '../../host/embed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const Cents = Type.Integer();

const transfer = defineEntity({
  component: 'transfer',
  state: { manifest: 'transfer', schema: Type.Object({}) },
  event: {
    manifest: 'transfer-event',
    schema: Type.Union([
      Type.Object({ type: Type.Literal('ordered'), to: Type.String(), cents: Cents }),
      Type.Object({ type: Type.Literal('noted') }),
    ]),
  },
  empty: () => ({}),
  apply: (state) => state,
  commands: {
    order: {
      input: Type.Object({ to: Type.String(), cents: Cents }),
      handle: (_state, input, { persist }) => persist({ type: 'ordered', ...input }).thenReply(),
    },
  },
});

const account = defineEntity({
  component: 'account',
  state: { manifest: 'account', schema: Type.Object({ cents: Cents }) },
  event: {
    manifest: 'account-event',
    schema: Type.Object({ type: Type.Literal('booked'), cents: Cents }),
  },
  empty: () => ({ cents: 0 }),
  apply: (state, { cents }) => ({ cents: state.cents + cents }),
  commands: {
    book: {
      input: Cents,
      handle: (_state, cents, { persist }) => persist({ type: 'booked', cents }).thenReply(),
    },
  },
  queries: { balance: { reply: Cents, handle: ({ cents }) => cents } },
});

const ledger = defineConsumer({
  id: 'ledger',
  start: 'beginning',
  on: [
    {
      entity: transfer,
      async handle(event, { call, done, skip }) {
        if (event.type !== 'ordered') return done();
        const booked = await call(account, event.to).book(event.cents);
        return booked.isOk ? done() : skip(booked.message);
      },
    },
  ],
});

test('each transfer is booked with its account, once', async () => {
  const dataFolder = temporaryFolder();
  const service = await createService({
    name: 'bank',
    dataFolder,
    entities: [transfer, account],
    consumers: [ledger],
    http: false,
    log: 'none',
  });
  onTestFinished(() => service.stop(0));
  for (const cents of [100, 20]) await service.call(transfer, 't').order({ to: 'ada', cents });
  const balance = async () => service.call(account, 'ada').balance();
  await expect.poll(balance).toMatchObject({ value: 120 });
});
