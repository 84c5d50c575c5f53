// Tests the components in this process, with a journal in memory. The runtime embeds them as it calls them in a process of their own.
import { createService } from '@svc/host';
import { expect, onTestFinished, test } from 'vitest';
import { book } from '../src/book.ts';
import { components } from '../src/components.ts';

async function library() {
  const service = await createService({
    name: 'library',
    ...components,
    journal: 'memory',
    http: { port: 0 },
    log: 'none',
  });
  onTestFinished(() => service.stop());
  return service;
}

test('a book that is there is lent', async () => {
  const service = await library();
  const dune = service.call(book, 'dune');
  expect(await dune.lend({ reader: 'ada' })).toMatchObject({ value: { reader: 'ada', count: 1 } });
  const events = await service.readEvents(book, 'dune');
  expect(events.map(({ event }) => event)).toEqual([{ type: 'lent', reader: 'ada' }]);
});

test('a book that somebody has is not lent', async () => {
  const service = await library();
  const dune = service.call(book, 'dune');
  await dune.lend({ reader: 'ada' });
  expect(await dune.lend({ reader: 'bob' })).toMatchObject({
    isOk: false,
    code: 'CONFLICT',
    message: 'ada has it',
  });
});

test('a book that came back is lent again', async () => {
  const service = await library();
  const dune = service.call(book, 'dune');
  await dune.lend({ reader: 'ada' });
  await dune['give-back']();
  expect(await dune.get()).toMatchObject({ value: { reader: '', count: 1 } });
});

test('the library lends over HTTP, and says no with a status', async () => {
  const service = await library();
  const lend = (reader: string) =>
    service.fetch('/books/dune/loan', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ reader }),
    });
  expect(await (await lend('ada')).json()).toEqual({ reader: 'ada', count: 1 });
  expect((await lend('bob')).status).toBe(409);
});
