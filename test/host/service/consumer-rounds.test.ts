// Calls of a consumer that are refused: each is made again after a verdict, and repeated after an attempt without one. In embedded
// services, with the clock of the machine and a journal on disk.
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import {
  type ConsumerContext,
  type ConsumerDefinition,
  createService,
  defineConsumer,
  defineEntity,
  type Service,
  type ServiceOptions,
  type Verdict,
} from '../../../host/embed.ts';
import { changeStoppedFolder } from '../../../host/service/stopped-folder.ts';
import { backUpJournal } from '../../../host/storage/sqlite/tools/journal-backup.ts';
import { isInDatabase, orDatabase } from '../../support/postgres/journal-tier.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';

const Cents = Type.Integer();

const account = defineEntity({
  component: 'account',
  state: { manifest: 'account-state', schema: Type.Object({ cents: Cents }) },
  event: {
    manifest: 'account-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('booked'), cents: Cents })]),
  },
  empty: () => ({ cents: 0 }),
  apply: (state, event) => ({ cents: state.cents + event.cents }),
  commands: {
    book: {
      input: Cents,
      handle: (state, cents, { persist, refuse }) =>
        state.cents + cents < 0
          ? refuse('no debts', 'CONFLICT')
          : persist({ type: 'booked', cents }).thenReply(),
    },
  },
  queries: { get: { reply: Type.Object({ cents: Cents }), handle: (state) => state } },
});

const SOON = { timeout: 20_000 };
/** The event that the consumer handles: the first one of this account. The others belong to accounts without consequences. */
const SOURCE = 'source';

/** A consumer that handles the event of `SOURCE` only. */
function payer(handle: (context: ConsumerContext) => Promise<Verdict>): ConsumerDefinition {
  return defineConsumer({
    id: 'payer',
    start: 'beginning',
    on: [
      {
        entity: account,
        handle: async (_event, context) =>
          context.entityId === SOURCE ? handle(context) : context.done(),
      },
    ],
  });
}

type Storage = Pick<ServiceOptions, 'dataFolder' | 'database'>;

async function serve(
  consumer: ConsumerDefinition,
  storage: Storage,
  settings: Readonly<Record<string, number>> = {},
) {
  const parked: unknown[] = [];
  const service = await createService({
    name: 'bank',
    entities: [account],
    consumers: [consumer],
    ...(storage as { readonly dataFolder: string }),
    settings: { 'svc.consumers.attempts-max': 1000, ...settings },
    log: ({ message, fields }) => void (message.includes('are parked') && parked.push(fields)),
  });
  onTestFinished(() => service.stop(0));
  return { service, parked };
}

async function book(service: Service, id: string, cents: number): Promise<void> {
  expect((await service.call(account, id).book(cents)).isOk).toBe(true);
}

async function balance(service: Service, id: string): Promise<number> {
  const found = await service.call(account, id).get();
  return found.isOk ? found.value.cents : NaN;
}

test('a call that is refused twice and then accepted has one effect, and so have the calls beside it', async () => {
  const results: string[] = [];
  const { service } = await serve(
    payer(async ({ call, done, retry }) => {
      if (results.length === 2) await book(service, 'poor', 7);
      const paid = await call(account, 'poor').book(-5);
      const fee = await call(account, 'fees').book(1);
      expect(fee.isOk).toBe(true);
      results.push(paid.isOk ? 'paid' : paid.message);
      return paid.isOk && results.length === 4 ? done() : retry('again', 1);
    }),
    await orDatabase(() => ({ dataFolder: temporaryFolder() })),
  );
  await book(service, SOURCE, 1);
  await expect.poll(() => results.length, SOON).toBe(4);
  expect(results).toEqual(['no debts', 'no debts', 'paid', 'paid']);
  expect(await balance(service, 'poor')).toBe(2);
  expect(await balance(service, 'fees')).toBe(1);
});

test('an attempt that repeats one without a verdict gets its refusals, so that it takes the same branch', async () => {
  const results: string[] = [];
  const { service } = await serve(
    payer(async ({ call, done, retry }) => {
      const paid = await call(account, 'poor').book(-5);
      results.push(paid.isOk ? 'paid' : paid.message);
      if (results.length === 1) return retry('again', 1);
      await call(account, paid.isOk ? 'shipped' : 'cancelled').book(1);
      if (results.length === 3) return done();
      await book(service, 'poor', 7);
      return new Promise<never>(() => {});
    }),
    await orDatabase(() => ({ dataFolder: temporaryFolder() })),
    { 'svc.consumers.answer-timeout-ms': 500, 'svc.consumers.retry-pause-ms': 1 },
  );
  await book(service, SOURCE, 1);
  await expect.poll(() => results.length, SOON).toBe(3);
  expect(results).toEqual(['no debts', 'no debts', 'no debts']);
  expect(await balance(service, 'poor')).toBe(7);
  expect(await balance(service, 'cancelled')).toBe(1);
  expect(await balance(service, 'shipped')).toBe(0);
});

test.skipIf(isInDatabase)(
  'an event that refusals have parked is accepted after an operator retries it',
  async () => {
    const dataFolder = temporaryFolder();
    const results: string[] = [];
    const paying = payer(async ({ call, done, retry }) => {
      const paid = await call(account, 'poor').book(-5);
      const fee = await call(account, 'fees').book(1);
      results.push(paid.isOk ? 'paid' : paid.message);
      return paid.isOk && fee.isOk ? done() : retry('again', 1);
    });
    const limits = { 'svc.consumers.attempts-max': 2 };
    const first = await serve(paying, { dataFolder }, limits);
    await book(first.service, SOURCE, 1);
    await expect.poll(() => first.parked.length, SOON).toBe(1);
    await book(first.service, 'poor', 7);
    await first.service.stop();
    const entity = { component: 'account', id: SOURCE };
    const retried = changeStoppedFolder(journalIn(dataFolder), {
      kind: 'retry-lane',
      consumer: 'payer',
      entity,
    });
    expect(await retried).toBe(true);
    const { service } = await serve(paying, { dataFolder }, limits);
    await expect.poll(() => results.length, SOON).toBe(3);
    expect(results).toEqual(['no debts', 'no debts', 'paid']);
    expect(await balance(service, 'poor')).toBe(2);
    expect(await balance(service, 'fees')).toBe(1);
  },
);

test.skipIf(isInDatabase)(
  'an attempt whose verdict was not stored is repeated with its refusals, and the next one asks again',
  async () => {
    const dataFolder = temporaryFolder();
    const results: string[] = [];
    const paying = payer(async ({ call, done, retry }) => {
      const paid = await call(account, 'poor').book(-5);
      results.push(paid.isOk ? 'paid' : paid.message);
      return paid.isOk ? done() : retry('again', results.length === 1 ? 60_000 : 1);
    });
    const { service } = await serve(
      paying,
      { dataFolder },
      { 'svc.consumers.settle-ms': 3_600_000 },
    );
    await book(service, SOURCE, 1);
    await expect.poll(() => results.length, SOON).toBe(1);
    await book(service, 'poor', 7);
    // The copy has what a process leaves that is killed after the verdict, before it has stored it.
    const killed = temporaryFolder();
    const steps = backUpJournal(dataFolder, killed);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect(step.value).toMatchObject({ consumers: 1, lanes: 0 });
    const again = await serve(paying, { dataFolder: killed });
    await expect.poll(() => results.length, SOON).toBe(3);
    expect(results).toEqual(['no debts', 'no debts', 'paid']);
    expect(await balance(again.service, 'poor')).toBe(2);
  },
);
