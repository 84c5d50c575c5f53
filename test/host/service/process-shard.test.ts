// The process of an embedded service as its introspection asks it.
import type { ModuleDescriptor } from '@svc/contract';
import { expect, test } from 'vitest';
import { ProcessShard } from '../../../host/service/process-shard.ts';
import type { ShardAnswers } from '../../../host/shards/shard-answers.ts';
import type { ShardAnswer } from '../../../host/shards/shard-questions.ts';

const DESCRIPTOR = { types: {}, entities: [], endpoints: [] } as unknown as ModuleDescriptor;
const QUESTION = { kind: 'spans', after: 0, limit: 1 } as const;
const TIMEOUT_MS = 10_000;

function shardThat(answer: () => Promise<ShardAnswer>): ProcessShard {
  const shard = new ProcessShard(DESCRIPTOR, 1_000);
  shard.answers = { answer } as unknown as ShardAnswers;
  return shard;
}

test('a question is refused until the components are served', async () => {
  const shard = new ProcessShard(DESCRIPTOR, 1_000);
  await expect(shard.ask(0, QUESTION, TIMEOUT_MS)).rejects.toMatchObject({
    code: 'SVC_SHARD_UNAVAILABLE',
  });
});

test('a question is answered', async () => {
  const spans = { kind: 'spans', spans: [], recorded: 3, threadId: 0 } as const;
  expect(await shardThat(async () => spans).ask(0, QUESTION, TIMEOUT_MS)).toEqual(spans);
});

test('a failure is the error that it names', async () => {
  const failed = { kind: 'failed', code: 'SVC_OVERLOADED', message: 'Too many calls.' } as const;
  await expect(shardThat(async () => failed).ask(0, QUESTION, TIMEOUT_MS)).rejects.toMatchObject({
    code: 'SVC_OVERLOADED',
    message: 'Too many calls.',
  });
});

test('an answer that fails in a way that nobody expected is for the one who asked, and ends no program', async () => {
  const bug = new TypeError('no such thing');
  const shard = shardThat(async () => {
    throw bug;
  });
  await expect(shard.ask(0, QUESTION, TIMEOUT_MS)).rejects.toBe(bug);
});

test('an answer that comes too late is not waited for', async () => {
  const shard = shardThat(() => new Promise(() => {}));
  await expect(shard.ask(0, QUESTION, 1)).rejects.toMatchObject({ code: 'SVC_ANSWER_TIMED_OUT' });
});
