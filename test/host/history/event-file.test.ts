// EventFile: which members of a line are read, from an export of a journal and from lines that were written by hand.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ModuleDescriptor } from '@svc/contract';
import { incarnationsOfFile } from '../../../host/history/event-file.ts';
import { eventsOf } from '../../../host/history/folded-state.ts';
import { atOnce } from '../../../host/history/steps.ts';
import { admitModule } from '../../../host/hosting/wasm/admission/admission.ts';
import type { JournalRecord } from '../../../model/entity.ts';
import { answerTo, append, keep } from '../../suites/journal-suite.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { runSvc } from '../../support/host-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withJournal } from '../../support/with-journal.ts';

let descriptor: ModuleDescriptor;
beforeAll(async () => {
  descriptor = admitModule(await compileFixture('shopping-cart')).descriptor;
});

const event = (seq: number, json: string): JournalRecord => {
  return { kind: 'event', seq, timeMs: seq, event: { manifest: 'cart-event', json } };
};
const cart = (id: string) => ({ component: 'shopping-cart', id });
const deleted = (seq: number): JournalRecord => ({ kind: 'deleted', seq, timeMs: seq });

/** Texts that parsing and encoding again would change, or that are no JSON. */
const STORED = [
  '{"n":12345678901234567890,"type":"a","2":1,"1":2}',
  '{"type":"b","text":",\\"event\\":{}}"}',
  '{\n  "type": "c"\r\n}',
  '{"type":"d","inner":{"a":1,"event":2}}',
  'no JSON',
];

async function incarnationsOf(text: string) {
  const file = join(temporaryFolder(), 'events.ndjson');
  writeFileSync(file, text);
  const incarnations = await incarnationsOfFile(file, descriptor);
  return incarnations.map((incarnation) => {
    const { entity, afterSeq, lastSeq } = incarnation;
    const stored = atOnce(eventsOf(incarnation, lastSeq));
    return {
      ...entity,
      firstSeq: afterSeq + 1,
      manifests: stored.map(({ manifest }) => manifest),
      stored,
    };
  });
}

describe('an export', () => {
  test('gives the current incarnations, byte for byte as they were stored', async () => {
    const dir = temporaryFolder();
    await withJournal(dir, async (journal) => {
      const keyed = { ...event(1, '{"type":"first"}'), key: 'k' };
      expect(await keep(journal, cart('a "b"/é\n'), [keyed], answerTo('k', 1))).toBeUndefined();
      const later = STORED.map((json, index) => event(index + 3, json));
      expect(await append(journal, cart('a "b"/é\n'), deleted(2), ...later)).toBeUndefined();
      expect(await append(journal, cart('gone'), event(1, '{}'), deleted(2))).toBeUndefined();
    });
    const { code, stdout } = await runSvc(['journal', 'export', dir]);
    expect(code).toBe(0);
    expect(stdout).toContain('"kind":"answer"');
    expect(stdout).toMatch(/"kind":"end".*\n$/);
    const [life, ...others] = await incarnationsOf(stdout);
    expect(others).toEqual([]);
    expect(life).toMatchObject({ component: 'shopping-cart', id: 'a "b"/é\n', firstSeq: 3 });
    expect(life!.stored.map(({ json }) => json)).toEqual(STORED);
    expect(new Set(life!.manifests)).toEqual(new Set(['cart-event']));
  });

  test('of some records numbers them as the journal does', async () => {
    const line = '{"component":"shopping-cart","id":"a","seq":7,"kind":"event","event":{}}\n';
    expect(await incarnationsOf(line)).toMatchObject([{ id: 'a', firstSeq: 7 }]);
  });
});

describe('a line by hand', () => {
  test.each([
    ['{ "component": "shopping-cart", "id": "a", "event": {"n": 1.0} }', '{"n": 1.0}'],
    ['{"event":{"n":1},"component":"shopping-cart","id":"a"}', '{"n":1}'],
    ['{"id":"a","event":{"n":1},"component":"shopping-cart"}', '{"n":1}'],
    ['{"component":"shopping-cart","id":"a","x":{"y":1,"event":{}},"event":{"n":1}}', '{"n":1}'],
  ])('%s has its event, under the manifest of the module', async (line, json) => {
    const [life] = await incarnationsOf(`\n${line}\n`);
    expect(life).toMatchObject({ firstSeq: 1, stored: [{ manifest: 'cart-event', json }] });
  });

  test.each([
    ['{"component":"c","id":"a","kind":"damaged","problem":"x"}', 'neither an event nor'],
    ['{"component":"c","id":"a","kind":"event"}', 'it has no event'],
    ['{"component":"c","id":"a","event":7}', 'it has no event'],
    ['{"component":"c","id":"a","manifest":7,"event":{}}', 'it has no event'],
    ['{"kind":"event","event":{}}', 'it has no component and id'],
    ['[]', 'it has no component and id'],
  ])('%s is named', async (line, problem) => {
    await expect(incarnationsOf(`{"svc-journal":1}\n${line}\n`)).rejects.toMatchObject({
      code: 'SVC_EVENTS_INVALID',
      message: expect.stringMatching(new RegExp(`^Line 2 of .*${problem}`)),
    });
  });
});
