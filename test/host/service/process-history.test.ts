// ProcessHistory: the event loop runs while it folds, and an answer has a time limit.
import { Type } from 'typebox';
import { beforeAll, expect, test } from 'vitest';
import { createService, defineEntity } from '../../../host/embed.ts';
import { createEmbeddedGuest } from '../../../components/embedded-guest.ts';
import { ProcessHistory } from '../../../host/service/process-history.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';

const Count = Type.Object({ value: Type.Integer() });
const EVENTS = 300;

/** A counter whose `apply` computes for this time. */
const counter = (applyMs: number) =>
  defineEntity({
    component: 'counter',
    state: { manifest: 'count', schema: Count },
    event: {
      manifest: 'counter-event',
      schema: Type.Union([Type.Object({ type: Type.Literal('added') })]),
    },
    empty: () => ({ value: 0 }),
    apply({ value }) {
      const endMs = performance.now() + applyMs;
      while (performance.now() < endMs);
      return { value: value + 1 };
    },
    commands: {
      add: {
        reply: Count,
        handle: (_state, context) => context.persist({ type: 'added' }).thenReplyState(),
      },
    },
    queries: {},
  });

const slow = () => createEmbeddedGuest({ entities: [counter(1)] });
const lastPage = {
  kind: 'history',
  component: 'counter',
  id: 'a',
  from: EVENTS,
  limit: 10,
} as const;
const dir = temporaryFolderOfFile();

beforeAll(async () => {
  const entity = counter(0);
  await using service = await createService({
    name: 'counters',
    entities: [entity],
    dataFolder: dir,
    log: 'none',
    observability: { local: false },
  });
  const client = service.call(entity, 'a');
  await Promise.all(Array.from({ length: EVENTS }, () => client.add()));
});

test('the event loop turns while events are folded', async () => {
  const history = new ProcessHistory(slow(), journalIn(dir));
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  turn();
  const { page } = await history.ask(lastPage);
  isDone = true;
  expect(page.steps).toMatchObject([{ seq: EVENTS, state: `{"value":${EVENTS}}` }]);
  expect(turns).toBeGreaterThan(5);
  await history.close();
});

test('an answer that takes too long is rejected, and the next one begins anew', async () => {
  const history = new ProcessHistory(slow(), journalIn(dir), 30);
  await expect(history.ask(lastPage)).rejects.toMatchObject({ code: 'SVC_ANSWER_TIMED_OUT' });
  const { list } = await history.ask({
    kind: 'entities',
    component: 'counter',
    prefix: '',
    afterId: '',
    limit: 10,
  });
  expect(list.entities).toMatchObject([{ id: 'a', events: EVENTS }]);
  await history.close();
});

test('a stop ends the answer that is under way, and those that wait', async () => {
  const history = new ProcessHistory(slow(), journalIn(dir));
  const asked = [history.ask(lastPage), history.ask(lastPage)];
  const ended = Promise.allSettled(asked);
  await history.close();
  expect(await ended).toMatchObject([
    { status: 'rejected', reason: { code: 'SVC_STOPPING' } },
    { status: 'rejected', reason: { code: 'SVC_STOPPING' } },
  ]);
  await expect(history.ask(lastPage)).rejects.toMatchObject({ code: 'SVC_STOPPING' });
});
