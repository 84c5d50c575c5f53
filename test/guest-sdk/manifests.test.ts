// The manifest of a class, and the effect of renaming it on an existing journal.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { createEngine } from '../../host/engine/entity-engine.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import type { JournalRecord } from '../../model/entity.ts';
import { MemoryJournal } from '../../host/storage/memory/memory-journal.ts';
import { systemEventLoop, systemDigest } from '../../host/system.ts';
import { UserProjects } from './support/user-projects.ts';

interface Names {
  readonly state: string;
  readonly event: string;
  readonly added: string;
  /** Decorator of the state and of the event. */
  readonly data: (name: string) => string;
}

const FIRST: Names = {
  state: 'Count',
  event: 'CountEvent',
  added: 'Added',
  data: (name) => `@data("${name}")`,
};
const RENAMED = { ...FIRST, state: 'Tally', event: 'TallyEvent', added: 'Raised' };

/** Without a manifest. */
const bare = (): string => '@data';
/** Each test builds three modules. */
const TIMEOUT_MS = 120_000;

let projects: UserProjects;

beforeAll(async () => {
  projects = await UserProjects.open();
});

afterAll(() => projects.remove());

async function built({ state, event, added, data }: Names): Promise<Uint8Array> {
  const entryFile = await projects.write({
    'index.ts': `import { Effect, EventSourcedEntity, register } from "@svc/guest-sdk";
${data('count')} class ${state} { n: i32 = 0; }
${data('count-event')} abstract class ${event} {}
@variant("added") class ${added} extends ${event} { amount: i32 = 0; }
@entity("counter") class Counter extends EventSourcedEntity<${state}, ${event}> {
  empty(id: string): ${state} { return new ${state}(); }
  apply(state: ${state}, event: ${event}): ${state} {
    if (event instanceof ${added}) state.n += (event as ${added}).amount;
    return state;
  }
  @command("add") add(state: ${state}, input: i32): Effect<i32> {
    const added: ${added} = { amount: input };
    return this.persist(added).thenReply(state.n + input);
  }
  @query("get") get(state: ${state}): ${state} { return state; }
}
register<Counter>();`,
  });
  return (await buildComponent({ entryFile, optimizeLevel: 0 })).component;
}

const COUNTER = { component: 'counter', id: 'one' };

/** Calls the entity in a runtime of its own, on this journal; returns the reply. */
async function call(
  component: Uint8Array,
  journal: MemoryJournal,
  name: string,
  input: string,
): Promise<unknown> {
  const guest = await createWasmGuest(component);
  const engine = createEngine({
    guest,
    journal,
    clock: { nowMs: () => 1, monotonicMs: () => 1 },
    random: { next64: () => 1n },
    digest: systemDigest,
    eventLoop: systemEventLoop,
    faultLog: () => undefined,
  });
  try {
    const outcome = await engine.call(COUNTER, name, input, []);
    if (outcome.kind !== 'reply') throw new Error(outcome.message);
    return JSON.parse(outcome.json);
  } finally {
    await guest.close();
  }
}

async function stored(journal: MemoryJournal): Promise<string[]> {
  const records: readonly JournalRecord[] = await journal.read(COUNTER, 0, 100);
  return records.map((record) =>
    record.kind === 'event' ? `${record.event.manifest} ${record.event.json}` : record.kind,
  );
}

test(
  'classes with manifests may be renamed: nothing that is stored changes',
  async () => {
    const journal = new MemoryJournal();
    expect(await call(await built(FIRST), journal, 'add', '2')).toBe(2);
    const renamed = await built(RENAMED);
    expect(await call(renamed, journal, 'add', '3')).toBe(5);
    expect(await call(renamed, journal, 'get', 'null')).toEqual({ n: 5 });
    expect(await stored(journal)).toEqual([
      'count-event {"type":"added","amount":2}',
      'count-event {"type":"added","amount":3}',
    ]);
  },
  TIMEOUT_MS,
);

test(
  'without a manifest a class is stored under its name, and a renamed one says what is missing',
  async () => {
    const journal = new MemoryJournal();
    expect(await call(await built({ ...FIRST, data: bare }), journal, 'add', '2')).toBe(2);
    expect(await stored(journal)).toEqual(['CountEvent {"type":"added","amount":2}']);

    await expect(
      call(await built({ ...RENAMED, data: bare }), journal, 'get', 'null'),
    ).rejects.toThrow(
      /its manifest is 'CountEvent', this module stores 'TallyEvent': if that class was renamed, write @data\("CountEvent"\) before it/,
    );
    const mended = await built({
      ...RENAMED,
      data: (name) => (name === 'count' ? '@data' : '@data("CountEvent")'),
    });
    expect(await call(mended, journal, 'get', 'null')).toEqual({ n: 2 });
  },
  TIMEOUT_MS,
);
