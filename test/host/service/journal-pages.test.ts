// Pages of journal.read: handlers that ask for one at the same time have them one after the other, so that a thread holds one
// page at a time, however many handlers wait. The module, the journal on disk and the handler are those of a service.
import { expect, test } from 'vitest';
import { createEngine } from '../../../host/engine/entity-engine.ts';
import type { Journal } from '../../../host/engine/needs/journal.ts';
import { createWasmGuest } from '../../../host/hosting/wasm/wasm-guest.ts';
import { requestHandler } from '../../../host/http/requests/request-handler.ts';
import { systemDigest, systemEventLoop } from '../../../host/system.ts';
import { append } from '../../suites/journal-suite.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withJournal } from '../../support/with-journal.ts';

const HANDLERS = 24;
const SHELVED = { manifest: 'shelf-event', json: '{"type":"shelved","title":"Emma","copies":1}' };

/** The journal, with a word in `log` for each page that it has read. */
function logged(journal: Journal, log: string[]): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      if (name !== 'read') return value.bind(target) as unknown;
      return async (...range: Parameters<Journal['read']>) => {
        const page = await target.read(...range);
        log.push('page');
        return page;
      };
    },
  });
}

test('a page is with its handler before the next one is read', async () => {
  await withJournal(temporaryFolder(), async (journal) => {
    const record = { kind: 'event', seq: 1, timeMs: 1, event: SHELVED } as const;
    expect(await append(journal, { component: 'shelf', id: 's1' }, record)).toBeUndefined();
    const log: string[] = [];
    const guest = await createWasmGuest(await compileFixture('impure'));
    const clock = { nowMs: () => 1, monotonicMs: () => 1 };
    const random = { next64: () => 1n };
    const engine = createEngine({
      guest,
      journal: logged(journal, log),
      clock,
      random,
      digest: systemDigest,
      eventLoop: systemEventLoop,
      faultLog: () => undefined,
    });
    const handle = requestHandler({ guest, engine, clock, random });
    const handlers = guest.descriptor.endpoints.flatMap(({ routes }) =>
      routes.map(({ handler }) => handler),
    );
    const request = {
      route: handlers.indexOf('history'),
      parameters: ['s1'],
      query: '',
      headers: [],
      caller: 'internet',
      body: { kind: 'none' },
    } as const;
    const answers = Array.from({ length: HANDLERS }, async () => {
      const answer = await handle(request, []);
      log.push('answer');
      return answer;
    });
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({ status: 200, body: { kind: 'json', text: '1' } });
    expect(log).toEqual(Array.from({ length: HANDLERS }, () => ['page', 'answer']).flat());
    await engine.close();
    await guest.close();
  });
});
