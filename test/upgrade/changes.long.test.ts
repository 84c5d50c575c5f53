// What an upgrade check says of many changes of the fixtures: what breaks is caught by its name, and what
// does no harm is let through. Each change is compiled; its journal was made by the module before it.
import { beforeAll, describe, expect, test } from 'vitest';
import { cart } from '../../fixtures/upgrades/cart.ts';
import type { Change, Upgrades } from '../../fixtures/upgrades/change.ts';
import { counter } from '../../fixtures/upgrades/counter.ts';
import { directory } from '../../fixtures/upgrades/directory.ts';
import { orders } from '../../fixtures/upgrades/orders.ts';
import { parcel } from '../../fixtures/upgrades/parcel.ts';
import { checkUpgrade } from '../../host/history/upgrade-check.ts';
import { type WasmSource, wasmSource } from '../../host/hosting/guest-source.ts';
import { admitModule } from '../../host/hosting/wasm/admission/admission.ts';
import { WASM_LIMITS_DEFAULT } from '../../host/hosting/wasm/wasm-limits.ts';
import { changedSources } from '../support/changed-sources.ts';
import {
  compileFixture,
  compileSources,
  sourcesOf,
  type Sources,
} from '../support/compile-fixture.ts';
import { scriptedJournal } from '../support/scripted-journal.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { journalIn } from '../../host/storage/journal-location.ts';

const CORPUS = [counter, parcel, cart, directory, orders];
/** What never ends is to end soon. */
const SETTINGS = {
  wasm: {
    ...WASM_LIMITS_DEFAULT,
    applyFuelPerEvent: 10_000_000,
    applyFuelPerBatch: 20_000_000,
  },
};

test('the corpus has enough of both kinds', () => {
  const changes = CORPUS.flatMap((upgrades) => upgrades.changes);
  expect(changes.filter(({ finds }) => finds.length > 0).length).toBeGreaterThanOrEqual(60);
  expect(changes.filter(({ finds }) => finds.length === 0).length).toBeGreaterThanOrEqual(20);
});

describe.each(CORPUS)('$base:', ({ base, component, commands, changes }: Upgrades) => {
  const dir = temporaryFolderOfFile();
  let sources: Sources;
  let before: WasmSource;
  /** One after the other, ahead of the tests that ask for them. */
  const compiled = new Map<Change, Promise<Uint8Array>>();

  beforeAll(async () => {
    sources = await sourcesOf(base);
    before = wasmSource(admitModule(await compileFixture(base)));
    await scriptedJournal(dir, before.module, component, commands);
    let last: Promise<unknown> = Promise.resolve();
    for (const change of changes) {
      const build = async () => compileSources(base, changedSources(sources, change.edits));
      const next = last.then(build, build);
      // Its test says what went wrong.
      next.catch(() => {});
      compiled.set(change, next);
      last = next;
    }
  });

  test.each(changes)('$what', async (change) => {
    const { finds, says = /^/ } = change;
    const now = wasmSource(admitModule(await compiled.get(change)!));
    const { findings } = await checkUpgrade({
      location: journalIn(dir),
      now,
      before,
      settings: SETTINGS,
      threads: 1,
    });
    const names = [...new Set(findings.map(({ name }) => name))].toSorted();
    const said = findings.map((finding) => JSON.stringify(finding)).join('\n');
    expect({ names, said }).toEqual({
      names: finds,
      said: expect.stringMatching(says) as string,
    });
  });
});
