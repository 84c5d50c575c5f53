// Reminders: a program whose service has an entity with a timer, a consumer that tries again, a view and a route, for tests with
// time and random numbers of their own.
import { Type } from 'typebox';
import {
  type Components,
  createService,
  defineConsumer,
  defineEndpoint,
  defineEntity,
  defineView,
  Due,
  type LogEntry,
  post,
  type Service,
  type ServiceOptions,
} from '../../host/embed.ts';
import type { TestingOptions } from '../../host/testing.ts';

const Reminded = Type.Object({ times: Type.Integer(), ticket: Type.Number() });

/** It reminds again and again, after the time with which it was begun, and keeps a random number of each time. */
export const reminder = defineEntity({
  component: 'reminder',
  state: {
    manifest: 'reminder',
    schema: Type.Object({ everyMs: Type.Integer(), times: Type.Integer(), ticket: Type.Number() }),
  },
  event: {
    manifest: 'reminder-event',
    schema: Type.Union([
      Type.Object({ type: Type.Literal('begun'), everyMs: Type.Integer() }),
      Type.Object({ type: Type.Literal('reminded'), ticket: Type.Number() }),
    ]),
  },
  empty: () => ({ everyMs: 0, times: 0, ticket: 0 }),
  apply: (state, event) =>
    event.type === 'begun'
      ? { ...state, everyMs: event.everyMs }
      : { ...state, times: state.times + 1, ticket: event.ticket },
  commands: {
    begin: {
      input: Type.Integer(),
      handle: (_state, everyMs, { persist, self }) =>
        persist({ type: 'begun', everyMs })
          .thenSetTimer('next', Due.after(everyMs), self.remind())
          .thenReply(),
    },
    remind: {
      handle: ({ everyMs }, { persist, random, self }) =>
        persist({ type: 'reminded', ticket: random() })
          .thenSetTimer('next', Due.after(everyMs), self.remind())
          .thenReply(),
    },
    end: { handle: (_state, { cancelTimer }) => cancelTimer('next').thenReply() },
  },
  queries: {
    get: { reply: Reminded, handle: ({ times, ticket }) => ({ times, ticket }) },
  },
});

/** It counts what the consumer has told it. */
export const tally = defineEntity({
  component: 'tally',
  state: { manifest: 'tally', schema: Type.Object({ count: Type.Integer() }) },
  event: {
    manifest: 'tally-event',
    schema: Type.Object({ type: Type.Literal('counted'), seed: Type.String() }),
  },
  empty: () => ({ count: 0 }),
  apply: ({ count }) => ({ count: count + 1 }),
  commands: {
    count: {
      handle: (_state, { persist, seed }) =>
        persist({ type: 'counted', seed: String(seed) }).thenReply(),
    },
  },
  queries: { get: { reply: Type.Integer(), handle: ({ count }) => count } },
});

export const remindersView = defineView({
  id: 'reminders',
  version: '1',
  row: Type.Object({ times: Type.Integer(), lastMs: Type.Integer() }),
  from: [
    {
      entity: reminder,
      fold: (row, event, { put, timeMs }) =>
        put({ times: (row?.times ?? 0) + (event.type === 'reminded' ? 1 : 0), lastMs: timeMs }),
    },
  ],
  indexes: [['times']],
  queries: { all: { where: 'order by key' } },
});

/** The components. The consumer asks for every third attempt to be made again after a minute. */
export function remindersComponents(): Components {
  const tried = new Set<string>();
  const counter = defineConsumer({
    id: 'counter',
    start: 'beginning',
    on: [
      {
        entity: reminder,
        async handle(_event, { entityId, seq, call, done, retry }) {
          const key = `${entityId}/${seq}`;
          if (seq % 3 === 0 && !tried.has(key)) {
            tried.add(key);
            return retry('not yet', 60_000);
          }
          await call(tally, 'all').count();
          return done();
        },
      },
    ],
  });
  const routes = defineEndpoint({
    prefix: '/reminders',
    access: 'internet',
    routes: {
      begin: post(
        '/{id}',
        { body: Type.Integer(), answers: [204] },
        async ({ parameters: { id }, body }, { call }) => call(reminder, id).begin(body),
      ),
    },
  });
  return {
    entities: [reminder, tally],
    endpoints: [routes],
    views: [remindersView],
    consumers: [counter],
  };
}

export interface Reminders {
  readonly service: Service;
  readonly logged: readonly LogEntry[];
}

export async function reminders(
  testing: TestingOptions,
  options: Partial<ServiceOptions> = { journal: 'memory' },
): Promise<Reminders> {
  const logged: LogEntry[] = [];
  const service = await createService({
    name: 'reminders',
    ...remindersComponents(),
    http: false,
    log: (entry) => logged.push(entry),
    testing,
    ...options,
  });
  return { service, logged };
}

/** Begins a reminder through the route. */
export async function begin({ service }: Reminders, id: string, everyMs: number): Promise<number> {
  const answer = await service.fetch(`/reminders/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: String(everyMs),
  });
  return answer.status;
}
