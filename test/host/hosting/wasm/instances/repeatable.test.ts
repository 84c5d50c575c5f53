// Every module under fixtures/ and examples/ that the SDK compiles gives the same results on each run, to the byte,
// and for the same fuel: in two fresh instances, and in an endpoint's instance that was restored.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ModuleDescriptor } from '@svc/contract';
import {
  type AdmittedModule,
  admitModule,
} from '../../../../../host/hosting/wasm/admission/admission.ts';
import { MemoryImage } from '../../../../../host/hosting/wasm/instances/memory-image.ts';
import {
  FUEL_EXPORT,
  SAVE_GLOBALS_EXPORT,
  RESTORE_GLOBALS_EXPORT,
} from '../../../../../host/hosting/wasm/metering/module-rewriter.ts';
import { compileExample, compileFixture } from '../../../../support/compile-fixture.ts';
import { CoreGuest, type CoreContext, type CoreRequest } from '../../../../support/core-guest.ts';
import { sampleJson } from '../../../../support/sample-value.ts';

const ROOT = join(import.meta.dirname, '../../../../..');
const CONTEXT: CoreContext = {
  nowMs: 1_700_000_000_123n,
  seed: 0x1234_5678_9abc_def0n,
  metadata: [['role', 'admin']],
};
/** Enough fuel for each call of these modules except those that never end. */
const FUEL = 20_000_000;
function guestsUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).filter((name) =>
    existsSync(join(ROOT, folder, name, 'assembly', 'index.ts')),
  );
}

/** The result of a call, or that it trapped, and its fuel. The depth of the host's stack is not part of it. */
function trace(guest: CoreGuest, call: () => unknown): string {
  const outcome = outcomeOf(guest, call);
  const fuel = guest.exports[FUEL_EXPORT] as WebAssembly.Global;
  return outcome === STACK ? outcome : `${outcome} for ${FUEL - (fuel.value as number)}`;
}

const STACK = 'the stack ended';

function outcomeOf(guest: CoreGuest, call: () => unknown): string {
  (guest.exports[FUEL_EXPORT] as WebAssembly.Global).value = FUEL;
  try {
    return JSON.stringify(call()) ?? 'nothing';
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return error.message;
    if (error instanceof RangeError) return STACK;
    throw error;
  }
}

function newGuest({ compiled }: AdmittedModule): CoreGuest {
  return new CoreGuest(compiled, {
    nowMs: () => 1_700_000_000_456n,
    call: ({ name }) => (name.length % 2 === 0 ? { ok: 'null' } : { denied: name }),
    readEvents: () => ['{"type":"x"}'],
  });
}

/** Runs each command on an entity of its own and folds its events, then runs all queries. */
function entityTraces(module: AdmittedModule): string[] {
  const { descriptor } = module;
  const traces: string[] = [];
  for (const { component, commands, queries } of descriptor.entities)
    for (const { name, input } of commands) {
      const guest = newGuest(module);
      const take = (call: () => unknown) => traces.push(trace(guest, call));
      let entity = 0;
      take(() => (entity = guest.open(component, 'one')));
      take(() => {
        const result = guest.command(entity, name, sampleJson(descriptor, input), CONTEXT);
        if ('ok' in result) traces.push(trace(guest, () => guest.apply(entity, result.ok.events)));
        return result;
      });
      take(() => guest.snapshot(entity));
      for (const query of queries)
        take(() => guest.query(entity, query.name, sampleJson(descriptor, query.input), CONTEXT));
    }
  return traces;
}

function requests(descriptor: ModuleDescriptor): CoreRequest[] {
  return descriptor.endpoints
    .flatMap(({ routes }) => routes)
    .map(({ parameters, body }, route) => ({
      route,
      parameters: parameters.map(({ schema }) => textOf(sampleJson(descriptor, schema))),
      query: 'limit=3&a=b',
      headers: [['accept', 'text/plain']],
      ...(body === undefined
        ? {}
        : {
            body:
              body.kind === 'json'
                ? { json: sampleJson(descriptor, body.schema) }
                : body.kind === 'text'
                  ? { text: 'some text' }
                  : { bytes: Buffer.from('bytes') },
          }),
    }));
}

function textOf(json: string): string {
  const value: unknown = JSON.parse(json);
  return typeof value === 'string' ? value : json;
}

describe.each([
  ...guestsUnder('fixtures').map((name) => ({ name, compile: compileFixture })),
  ...guestsUnder('examples').map((name) => ({ name, compile: compileExample })),
])('$name', ({ name, compile }) => {
  let module: AdmittedModule;
  beforeAll(async () => {
    module = admitModule(await compile(name));
  });

  test('decides, folds and answers the same on fresh instances, for the same fuel', () => {
    const first = entityTraces(module);
    expect(first.length).toBeGreaterThan(module.descriptor.entities.length === 0 ? -1 : 2);
    expect(entityTraces(module)).toEqual(first);
  });

  test('answers requests the same in fresh instances and in one that was restored', () => {
    const all = requests(module.descriptor);
    const fresh = all.map((request) => {
      const guest = newGuest(module);
      return trace(guest, () => guest.handle(request, CONTEXT));
    });
    const again = newGuest(module);
    const { exports } = again;
    const memory = exports['memory'] as WebAssembly.Memory;
    const image = new MemoryImage(new Uint8Array(memory.buffer));
    (exports[SAVE_GLOBALS_EXPORT] as () => void)();
    const restored = all.map((request) => {
      image.restore(new Uint8Array(memory.buffer));
      (exports[RESTORE_GLOBALS_EXPORT] as () => void)();
      return trace(again, () => again.handle(request, CONTEXT));
    });
    expect(restored).toEqual(fresh);
  });

  test('decides the same after other work in the instance', () => {
    const { descriptor } = module;
    const worn = newGuest(module);
    const decisions = descriptor.entities.flatMap(({ component, commands }) =>
      commands.map(({ name: command, input }) => {
        const decide = (guest: CoreGuest) =>
          outcomeOf(guest, () => {
            const text = sampleJson(descriptor, input);
            return guest.command(guest.open(component, 'one'), command, text, CONTEXT);
          });
        for (let turn = 0; turn < 3; turn++) decide(worn);
        return { inWorn: decide(worn), inFresh: decide(newGuest(module)) };
      }),
    );
    expect(decisions.map(({ inWorn }) => inWorn)).toEqual(decisions.map(({ inFresh }) => inFresh));
  });
});
