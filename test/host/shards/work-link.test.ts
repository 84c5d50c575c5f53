// WorkLink: work for a shard and its answers, in batches, and what becomes of work when a port is closed.
import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { serveWork, WorkLink } from '../../../host/shards/work-link.ts';

function linked() {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  return { link: new WorkLink<string, string>(port1, 'away'), port: port2 };
}

test('work is answered, in whichever order the shard has done it', async () => {
  const { link, port } = linked();
  const slow = Promise.withResolvers<string>();
  serveWork<string, string>(
    port,
    (work) => (work === 'slow' ? slow.promise : Promise.resolve(work)),
    String,
  );
  const first = link.send('slow');
  expect(await link.send('quick')).toBe('quick');
  slow.resolve('done');
  expect(await first).toBe('done');
});

test('work of one turn of the event loop is one message, and so are its answers', async () => {
  const { link, port } = linked();
  let messages = 0;
  port.on('message', () => messages++);
  serveWork<string, string>(port, async (work) => work.toUpperCase(), String);
  const answers = await Promise.all(['a', 'b', 'c'].map((work) => link.send(work)));
  expect(answers).toEqual(['A', 'B', 'C']);
  expect(await link.send('d')).toBe('D');
  expect(messages).toBe(2);
});

test('a shard begins a few pieces of work in a turn of its event loop, in their order, and others have their turn between', async () => {
  const { link, port } = linked();
  const begun: string[] = [];
  let turns = 0;
  const turnsOf: number[] = [];
  const countTurn = () => {
    turns++;
    if (begun.length < 100) setImmediate(countTurn);
  };
  serveWork<string, string>(
    port,
    async (work) => {
      if (begun.length === 0) setImmediate(countTurn);
      begun.push(work);
      turnsOf.push(turns);
      return work;
    },
    String,
  );
  const all = Array.from({ length: 100 }, (_, index) => String(index));
  expect(await Promise.all(all.map((work) => link.send(work)))).toEqual(all);
  expect(begun).toEqual(all);
  expect(new Set(turnsOf).size).toBeGreaterThan(3);
});

test('work that waits when the link is closed, and all later work, is away', async () => {
  const { link, port } = linked();
  serveWork<string, string>(port, () => new Promise(() => {}), String);
  const waiting = link.send('a');
  link.close();
  expect([await waiting, await link.send('b')]).toEqual(['away', 'away']);
});

test('work that a shard leaves behind when it ends is away', async () => {
  const { link, port } = linked();
  serveWork<string, string>(port, () => new Promise(() => {}), String);
  const waiting = link.send('a');
  await once(port, 'message');
  port.close();
  expect(await waiting).toBe('away');
  expect(await link.send('b')).toBe('away');
});

test('work that the shard fails to execute is answered with what it makes of the failure', async () => {
  const { link, port } = linked();
  serveWork<string, string>(
    port,
    async (work) => {
      if (work === 'bad') throw new Error('a bug');
      return work;
    },
    (failure) => `away: ${String(failure)}`,
  );
  expect(await Promise.all([link.send('bad'), link.send('good')])).toEqual([
    'away: Error: a bug',
    'good',
  ]);
});
