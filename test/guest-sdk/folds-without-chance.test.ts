// Random numbers and the clock while events are folded: there are none, whoever folds and whatever ran before. A number
// that is drawn in a command, and one whose seed is in the event, are the same in every fold.
import { buildComponent } from '@svc/guest-sdk/compiler';
import { testEntity, testModule } from '@svc/guest-sdk/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { createEngine } from '../../host/engine/entity-engine.ts';
import { incarnationOf } from '../../host/engine/entity/incarnation.ts';
import type { PurityFinding } from '../../host/history/purity-finding.ts';
import { PurityVerification, verifiedStarter } from '../../host/history/purity-verification.ts';
import { atOnce } from '../../host/history/steps.ts';
import { wasmSource } from '../../host/hosting/guest-source.ts';
import { admitModule } from '../../host/hosting/wasm/admission/admission.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../host/hosting/wasm/wasm-limits.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { MemoryJournal } from '../../host/storage/memory/memory-journal.ts';
import { systemDigest, systemEventLoop } from '../../host/system.ts';
import { append } from '../suites/journal-suite.ts';
import { UserProjects } from './support/user-projects.ts';

const DICE = `import { Effect, EventSourcedEntity, register } from "@svc/guest-sdk";
@data("dice") class Dice { faces: f64[] = []; }
@data("rolled") abstract class Rolled {}
@variant("kept") class Kept extends Rolled { face: f64 = 0; }
@variant("seeded") class Seeded extends Rolled { seed: i64 = 0; }
@variant("drawn") class Drawn extends Rolled {}
@variant("drawn-single") class DrawnSingle extends Rolled {}
@variant("defaulted") class Defaulted extends Rolled { @optional face: f64 = Math.random(); }
@variant("timed") class Timed extends Rolled {}
@variant("elapsed") class Elapsed extends Rolled {}

@entity("dice") class DiceEntity extends EventSourcedEntity<Dice, Rolled> {
  empty(id: string): Dice {
    const dice = new Dice();
    if (id == "chance") dice.faces.push(Math.random());
    return dice;
  }
  apply(state: Dice, event: Rolled): Dice {
    if (event instanceof Kept) state.faces.push((event as Kept).face);
    else if (event instanceof Defaulted) state.faces.push((event as Defaulted).face);
    else if (event instanceof Drawn) state.faces.push(Math.random());
    else if (event instanceof DrawnSingle) state.faces.push(Mathf.random());
    else if (event instanceof Timed) state.faces.push(<f64>Date.now());
    else if (event instanceof Elapsed) state.faces.push(<f64>process.time());
    else if (event instanceof Seeded) {
      Math.seedRandom((event as Seeded).seed);
      state.faces.push(Math.random());
    }
    return state;
  }
  @command("roll") roll(state: Dice): Effect<Dice> {
    const kept: Kept = { face: Math.random() };
    return this.persist(kept).thenReplyState();
  }
  @command("seed") seed(state: Dice, input: i32): Effect<Dice> {
    const seeded: Seeded = { seed: input };
    return this.persist(seeded).thenReplyState();
  }
  @command("seed-and-draw") seedAndDraw(state: Dice): Effect<Dice> {
    return this.persistAll([new Seeded(), new Drawn()]).thenReplyState();
  }
  @command("draw") draw(state: Dice): Effect<Dice> { return this.persist(new Drawn()).thenReplyState(); }
  @command("draw-single") drawSingle(state: Dice): Effect<f64> {
    return this.persist(new DrawnSingle()).thenReplyFrom(this.last);
  }
  @command("time") time(state: Dice): Effect<i32> { return this.persist(new Timed()).thenReply(1); }
  @command("elapse") elapse(state: Dice): Effect<i32> { return this.persist(new Elapsed()).thenReply(1); }
  @query("faces") faces(state: Dice): f64[] { return state.faces; }
  last(state: Dice): f64 { return state.faces[state.faces.length - 1]; }
}
register<DiceEntity>();
`;
const NO_NUMBERS =
  /abort: there are no random numbers in 'empty', 'apply' and the methods of a view, nor while the module starts: draw the number in a command, and put it into the event at /;
const NO_CLOCK =
  /The module called clock\.now-ms where it may not be called\. .*put it into the event\./;

const projects = await UserProjects.open();
afterAll(() => projects.remove());
const entryFile = await projects.write({ 'index.ts': DICE });
const { component } = await buildComponent({ entryFile });
const module = await testModule(component);
const dice = (id = 'a') => testEntity(module, 'dice', id);

const stored = (...types: readonly (string | object)[]) =>
  types.map((type) => ({
    manifest: 'rolled',
    json: JSON.stringify(typeof type === 'string' ? { type } : type),
  }));

/** A runtime of its own, on a journal that has these events of entity `a`. */
async function serving(types: readonly (string | object)[]) {
  const journal = new MemoryJournal();
  const records = stored(...types).map((event, index) => {
    return { kind: 'event', seq: index + 1, timeMs: 1, event } as const;
  });
  const failure =
    records.length === 0
      ? undefined
      : await append(journal, { component: 'dice', id: 'a' }, ...records);
  expect(failure).toBeUndefined();
  const guest = await createWasmGuest(component);
  const engine = createEngine({
    guest,
    journal,
    clock: { nowMs: () => 1, monotonicMs: () => 1 },
    random: { next64: () => 7n },
    digest: systemDigest,
    eventLoop: systemEventLoop,
    faultLog: () => undefined,
  });
  return {
    journal,
    close: () => guest.close(),
    /** Asks in vain; answers what the module said last. */
    fails: async (id: string, name: string) => {
      const fault = await Promise.resolve()
        .then(() => engine.call({ component: 'dice', id }, name, 'null', []))
        .catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(GuestFault);
      return (fault as GuestFault).guestMessage;
    },
    call: async (id: string, name: string, input = 'null') => {
      const outcome = await engine.call({ component: 'dice', id }, name, input, []);
      if (outcome.kind !== 'reply') throw new Error(outcome.message);
      return JSON.parse(outcome.json) as unknown;
    },
  };
}

describe("a command's own fold", () => {
  test.each([
    ['draw', 'drawn', NO_NUMBERS],
    ['draw-single', 'drawn-single', NO_NUMBERS],
    ['seed-and-draw', 'seeded, drawn', NO_NUMBERS],
    ['time', 'timed', NO_CLOCK],
    ['elapse', 'elapsed', NO_CLOCK],
  ])('%s is a fault in the test kit', (command, events, said) => {
    const message = failureOf(() => dice().when(command));
    expect(message).toContain(`command '${command}'`);
    expect(message).toContain(`Folding it (${events}) failed`);
    expect(message).toMatch(said);
  });

  test('is a fault of the runtime, which stores nothing', async () => {
    const it = await serving([]);
    expect(await it.fails('a', 'draw')).toMatch(NO_NUMBERS);
    expect(await it.fails('a', 'draw-single')).toMatch(NO_NUMBERS);
    expect(await it.journal.read({ component: 'dice', id: 'a' }, 0, 10)).toEqual([]);
    expect(await it.call('a', 'faces')).toEqual([]);
    await it.close();
  });
});

describe('a replay', () => {
  test.each([['drawn'], ['drawn-single'], ['defaulted']])(
    'of %s is a fault, also where a command has drawn numbers before',
    async (type) => {
      const it = await serving([{ type: 'kept', face: 0.5 }, type]);
      await it.call('b', 'roll');
      expect(await it.fails('a', 'faces')).toMatch(NO_NUMBERS);
      expect(await it.call('b', 'roll')).toMatchObject({ faces: { length: 2 } });
      await it.close();
    },
  );

  test('of events whose seed is in them comes to the same as the fold of each alone', async () => {
    const seeded = [3, 4].map((seed) => ({ type: 'seeded', seed }));
    const it = await serving(seeded);
    const faces = await it.call('a', 'faces');
    await it.call('b', 'seed', '3');
    expect(await it.call('b', 'seed', '4')).toEqual({ faces });
    await it.close();
  });

  test('of an event that draws is a fault after one with a seed too', async () => {
    const it = await serving([{ type: 'seeded', seed: 3 }, 'drawn']);
    expect(await it.fails('a', 'faces')).toMatch(NO_NUMBERS);
    await it.close();
  });
});

test('an empty state that is made by chance is a fault, also in an instance in which commands have run', async () => {
  const it = await serving([]);
  await it.call('b', 'roll');
  expect(await it.fails('chance', 'faces')).toMatch(NO_NUMBERS);
  await it.close();
});

test('numbers that a command draws are in its events, and every fold has them', () => {
  const it = dice();
  it.when('roll').when('roll').when('seed', 5);
  it.thenReplays();
});

test('svc verify names the event that draws, and finds nothing wrong with one that seeds', async () => {
  const source = wasmSource(admitModule(component));
  const verification = new PurityVerification(
    await verifiedStarter(source, { wasm: WASM_LIMITS_DEFAULT }),
  );
  const findings = (...types: readonly (string | object)[]) => {
    const life = incarnationOf({ component: 'dice', id: 'a' }, stored(...types));
    const found: PurityFinding[] = [];
    atOnce(verification.findings(life, [], (finding) => found.push(finding)));
    return found;
  };
  expect(findings({ type: 'seeded', seed: 3 }, { type: 'seeded', seed: 3 })).toEqual([]);
  expect(() => findings({ type: 'seeded', seed: 3 }, 'drawn')).toThrow(
    expect.objectContaining({
      code: 'SVC_FOLD_FAULTED',
      message: expect.stringMatching(/event 2 .*there are no random numbers/),
    }),
  );
});

function failureOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the call did not fail');
}
