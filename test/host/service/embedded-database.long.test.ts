// An embedded service whose database is away: it answers nothing from its memory once its lease has ended, says so, and goes on.
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import { createService, defineEntity } from '../../../host/embed.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';

const SOON = { timeout: 30_000 };

const counter = defineEntity({
  component: 'counter',
  state: { manifest: 'counter', schema: Type.Integer() },
  event: { manifest: 'added', schema: Type.Object({ type: Type.Literal('added') }) },
  empty: () => 0,
  apply: (count) => count + 1,
  commands: { add: { handle: (_state, { persist }) => persist({ type: 'added' }).thenReply() } },
  queries: { get: { reply: Type.Integer(), handle: (count) => count } },
});

test('a program whose database is away answers from memory for the lease at most, and goes on', async () => {
  const server = await PostgresServer.start('18');
  onTestFinished(() => server.stop());
  const { source } = await server.freshDatabase();
  if (source.kind !== 'file') throw new Error('the URL of a test is in a file');
  const service = await createService({
    name: 'counters',
    entities: [counter],
    http: false,
    management: { port: 0 },
    log: 'none',
    database: { urlFile: source.path },
  });
  onTestFinished(() => service.stop(0));
  const ready = async () => {
    const answer = await fetch(`${service.managementUrl!}/ready`);
    const { parts } = (await answer.json()) as { parts: { part: string; reason?: string }[] };
    return [answer.status, parts.find(({ part }) => part === 'journal')?.reason];
  };
  const get = () =>
    service
      .call(counter, 'a')
      .get()
      .then(
        (result) => (result.isOk ? result.value : result.code),
        (failure: { readonly code: string }) => failure.code,
      );
  await service.call(counter, 'a').add();
  expect(await get()).toBe(1);
  expect(await ready()).toEqual([200, undefined]);
  await server.kill();
  await expect.poll(get, SOON).toBe('SVC_ENTITY_MOVED');
  expect(await ready()).toEqual([
    503,
    expect.stringContaining('The lease of this instance has ended'),
  ]);
  await server.restart();
  await expect.poll(get, SOON).toBe(1);
  await service.call(counter, 'a').add();
  expect(await get()).toBe(2);
});
