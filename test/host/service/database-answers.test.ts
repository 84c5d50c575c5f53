// What an answer of a service says whose journal is in PostgreSQL: nothing leaves before its events are committed, and what the database
// does not store has not happened.
import { Type } from 'typebox';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  type ConsumerDefinition,
  createService,
  defineConsumer,
  defineEndpoint,
  defineEntity,
  Due,
  post,
  type Service,
} from '../../../host/embed.ts';
import { HeldCommits } from '../../support/postgres/held-commits.ts';
import { JournalDatabase } from '../../support/postgres/journal-database.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';

/** An amount that the database does not store while `refuseAmount` holds. */
const REFUSED = 13;
const refuseAmount = `CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM nextval('public.refusals'); RAISE EXCEPTION 'refused by the test'; END $$;
  CREATE SEQUENCE public.refusals MINVALUE 0; GRANT ALL ON SEQUENCE public.refusals TO PUBLIC;
  CREATE TRIGGER refused BEFORE INSERT ON svc.journal FOR EACH ROW
  WHEN (NEW.event LIKE '%"cents":${REFUSED}}') EXECUTE FUNCTION public.refuse()`;
const acceptAmount = 'DROP TRIGGER refused ON svc.journal';
/** A sequence keeps its value although the transaction has failed. */
const REFUSALS = 'SELECT last_value FROM public.refusals';
const EVENTS = 'SELECT count(*) FROM svc.journal';

const account = defineEntity({
  component: 'account',
  state: { manifest: 'account', schema: Type.Integer() },
  event: {
    manifest: 'account-event',
    schema: Type.Object({ type: Type.Literal('added'), cents: Type.Integer() }),
  },
  empty: () => 0,
  apply: (sum, { cents }) => sum + cents,
  commands: {
    add: {
      input: Type.Integer(),
      reply: Type.Integer(),
      handle: (sum, cents, { persist }) => persist({ type: 'added', cents }).thenReply(sum + cents),
    },
    addLater: {
      input: Type.Integer(),
      handle: (_sum, cents, { setTimer, self }) =>
        setTimer('add', Due.after(0), self.add(cents), { attempts: 1 }).thenReply(),
    },
    fail: {
      handle: () => {
        throw new Error('it always fails');
      },
    },
    close: {
      handle: (sum, { persist }) =>
        persist({ type: 'added', cents: -sum }).thenDelete().thenReply(),
    },
  },
  queries: { get: { reply: Type.Integer(), handle: (sum) => sum } },
});

/** A handler with two calls. */
const transfers = defineEndpoint({
  prefix: '/transfers',
  access: 'internet',
  routes: {
    transfer: post(
      '/{from}/{to}',
      { body: Type.Integer(), reply: Type.Integer() },
      async ({ parameters: { from, to }, body }, { call }) => {
        await call(account, from).add(1);
        return call(account, to).add(body);
      },
    ),
  },
});

/** Adds what is added to `from` to `to` as well. */
const copier = defineConsumer({
  id: 'copier',
  start: 'beginning',
  on: [
    {
      entity: account,
      async handle(event, { entityId, call, done }) {
        if (entityId === 'from') await call(account, 'to').add(event.cents);
        return done();
      },
    },
  ],
});

let server: PostgresServer;
let journals: JournalDatabase;
let held: HeldCommits;
let service: Service;

beforeAll(async () => {
  server = await PostgresServer.shared('18');
});
beforeEach(async () => {
  journals = await JournalDatabase.make(server);
  await journals.leave('node');
  held = await HeldCommits.of(server, journals);
  service = await started();
  return async () => {
    await held.release();
    await service.stop(0);
    await held.close();
    await journals.database.end();
  };
});

async function started(consumers: readonly ConsumerDefinition[] = []): Promise<Service> {
  const { source } = journals.database;
  if (source.kind !== 'file') throw new Error('the URL of a test is in a file');
  const made = await createService({
    name: 'accounts',
    entities: [account],
    endpoints: [transfers],
    consumers,
    settings: { 'svc.consumers.attempts-max': 1 },
    http: false,
    log: 'none',
    database: { urlFile: source.path },
  });
  onTestFinished(() => made.stop(0));
  return made;
}

/** Resolves with a value, or with the code of a refusal or a failure. */
async function outcome(
  answer: Promise<
    | { readonly isOk: true; readonly value: unknown }
    | { readonly isOk: false; readonly code: string }
  >,
): Promise<unknown> {
  try {
    const result = await answer;
    return result.isOk ? result.value : result.code;
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

const add = (id: string, cents: number) => outcome(service.call(account, id).add(cents));
const get = (id: string) => outcome(service.call(account, id).get());
const transfer = (from: string, to: string, cents: number, key?: string) =>
  service.fetch(`/transfers/${from}/${to}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: String(cents),
  });

test('commands, handlers and queries are answered once the events that they have seen are committed', async () => {
  expect([await add('a', 1), await add('idle', 1)]).toEqual([1, 1]);
  await held.hold();
  const answered: string[] = [];
  const noted = <T>(name: string, answer: Promise<T>): Promise<T> =>
    answer.finally(() => answered.push(name));
  const command = noted('command', add('a', 2));
  const handler = noted('handler', transfer('b', 'b', 5));
  await held.waiting();
  const query = noted('query', get('a'));
  // Whoever has seen nothing of it is answered meanwhile, and so would be those before.
  for (let turn = 0; turn < 3; turn++) expect(await get('idle')).toBe(1);
  expect(answered).toEqual([]);
  expect(await journals.number(EVENTS)).toBe(2);
  await held.release();
  expect(await command).toBe(3);
  expect(await query).toBe(3);
  expect(await (await handler).json()).toBe(6);
  expect(await journals.number(EVENTS)).toBe(5);
});

test('a handler that reads events gets those that are committed', async () => {
  await add('a', 1);
  await held.hold();
  const command = add('a', 2);
  await held.waiting();
  expect(await service.readEvents(account, 'a')).toMatchObject([{ event: { cents: 1 } }]);
  await held.release();
  await command;
  expect(await service.readEvents(account, 'a')).toHaveLength(2);
});

test('a command that the database does not store has not happened, nor has one that was decided after it, and queries see what is stored', async () => {
  await add('a', 1);
  await journals.database.sql(refuseAmount);
  const answers = [add('a', REFUSED), add('a', 2), get('a')];
  expect(await Promise.all(answers)).toEqual([
    'SVC_JOURNAL_UNAVAILABLE',
    'SVC_JOURNAL_UNAVAILABLE',
    1,
  ]);
  expect(await journals.number(EVENTS)).toBe(1);
  expect(await add('a', 2)).toBe(3);
});

test('a handler whose later call was not stored has made the one before, and makes the rest when it is repeated', async () => {
  await journals.database.sql(refuseAmount);
  expect((await transfer('from', 'to', REFUSED, 'key')).status).toBe(503);
  expect([await get('from'), await get('to')]).toEqual([1, 0]);
  await journals.database.sql(acceptAmount);
  for (let time = 0; time < 2; time++) {
    const answer = await transfer('from', 'to', REFUSED, 'key');
    expect([answer.status, await answer.json()]).toEqual([200, REFUSED]);
  }
  expect([await get('from'), await get('to')]).toEqual([1, REFUSED]);
  expect(await journals.number(EVENTS)).toBe(2);
});

test('a command that faults has stored nothing, and its entity goes on', async () => {
  await add('a', 1);
  await expect(service.call(account, 'a').fail()).rejects.toThrow('fail');
  expect(await journals.number(EVENTS)).toBe(1);
  expect(await add('a', 2)).toBe(3);
});

test('a reply is kept with its events, and is found after the entity was deleted and the service was started again', async () => {
  const keyed = () => outcome(service.call(account, 'a').withIdempotencyKey('key').add(7));
  await held.hold();
  const first = keyed();
  await held.waiting();
  expect(await journals.number('SELECT count(*) FROM svc.reply')).toBe(0);
  await held.release();
  expect(await first).toBe(7);
  expect(await journals.number('SELECT count(*) FROM svc.reply')).toBe(1);
  expect((await service.call(account, 'a').close()).isOk).toBe(true);
  expect(await get('a')).toBe(0);
  await service.stop();
  service = await started();
  expect(await keyed()).toBe(7);
  expect(await get('a')).toBe(0);
  // The event and the deletion are two records.
  expect(await journals.number(EVENTS)).toBe(3);
});

test('a firing that the database does not store costs no attempt, and is made again', async () => {
  await journals.database.sql(refuseAmount);
  expect((await service.call(account, 'a').addLater(REFUSED)).isOk).toBe(true);
  await expect.poll(() => journals.number(REFUSALS)).toBeGreaterThan(2);
  expect(await journals.number('SELECT attempts FROM svc.timer')).toBe(0);
  await journals.database.sql(acceptAmount);
  await expect.poll(() => get('a')).toBe(REFUSED);
  expect(await journals.number('SELECT count(*) FROM svc.timer')).toBe(0);
});

test('an event whose call the database does not store is handled again, and costs no attempt', async () => {
  await service.stop();
  service = await started([copier]);
  await add('from', REFUSED);
  await expect.poll(() => get('to')).toBe(REFUSED);
  await journals.database.sql(refuseAmount.replace('WHEN (', "WHEN (NEW.id = 'to' AND "));
  await add('from', REFUSED);
  await expect.poll(() => journals.number(REFUSALS)).toBeGreaterThan(2);
  expect(await get('to')).toBe(REFUSED);
  await journals.database.sql(acceptAmount);
  await expect.poll(() => get('to')).toBe(2 * REFUSED);
});
