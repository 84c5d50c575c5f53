// CodePositions: every instruction of the metered code is mapped to the instruction of the module that it comes from.
import { describe, expect, test } from 'vitest';
import type { ByteReader } from '../../../../../host/hosting/wasm/binary/byte-reader.ts';
import { CodePositions } from '../../../../../host/hosting/wasm/locations/code-positions.ts';
import {
  type CoreModule,
  readCoreModule,
} from '../../../../../host/hosting/wasm/binary/core-module-reader.ts';
import {
  CORE_SECTION,
  coreSections,
} from '../../../../../host/hosting/wasm/binary/core-section.ts';
import {
  codeAt,
  OP,
  readInstruction,
} from '../../../../../host/hosting/wasm/binary/instruction-reader.ts';
import { rewriteCoreModule } from '../../../../../host/hosting/wasm/metering/module-rewriter.ts';
import { trapFrames } from '../../../../../host/hosting/wasm/binding/trap-frames.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import { compileFixtureCore } from '../../../../support/compile-fixture.ts';
import { PAGES_MAX, generateModule } from '../../../../support/fuzz/wasm-grammar.ts';
import { Random } from '../../../../support/random.ts';

const LIMITS = { ...WASM_LIMITS_DEFAULT, memoryPagesMax: PAGES_MAX, tableElementsMax: 100 };
const MODULES = 300;
/** Code of functions that the host replaces. */
const REPLACED = new Set<number>([OP.memoryGrow, OP.memorySize]);

/** For each function of the module: the positions of its instructions. */
function instructionsOf(bytes: Uint8Array, count: number): number[][] {
  const code = coreSections(bytes)(CORE_SECTION.code)!;
  code.count();
  return Array.from({ length: count }, () => {
    const body = code.part(code.u32());
    skipLocals(body);
    const positions: number[] = [];
    while (!body.done) {
      positions.push(body.position);
      readInstruction(body);
    }
    return positions;
  });
}

function skipLocals(body: ByteReader): void {
  for (let groups = body.count(); groups > 0; groups--) {
    body.u32();
    body.u8();
  }
}

/** Rows `function offset`: positions that are mapped wrongly. */
function wrongPositions(core: CoreModule, limits = LIMITS): string[] {
  const rewritten = rewriteCoreModule(core, limits);
  const positions = new CodePositions(core, limits);
  const own = coreSections(core.bytes)(CORE_SECTION.code)?.count() ?? 0;
  const first = core.functions.length - own;
  const originals = instructionsOf(core.bytes, own);
  const wrong: string[] = [];
  for (const [number, offsets] of instructionsOf(rewritten, own).entries()) {
    /** Original offset → opcode of the last instruction that is mapped to it. */
    const found = new Map<number, number>();
    let last = 0;
    for (const offset of offsets) {
      const original = positions.originalOf({ functionIndex: first + number, offset });
      const at = original?.offset ?? -1;
      if (at < last || !originals[number]!.includes(at)) wrong.push(`${number} ${offset}`);
      last = at;
      found.set(at, codeAt(rewritten, offset));
    }
    for (const offset of originals[number]!) {
      const code = codeAt(core.bytes, offset);
      if (!REPLACED.has(code) && found.get(offset) !== code) wrong.push(`${number} <- ${offset}`);
    }
  }
  return wrong;
}

test('each offset of the rewritten code leads to the instruction that it came of', () => {
  const random = new Random(6);
  let looked = 0;
  for (let left = MODULES; left > 0; left--) {
    const { bytes } = generateModule(random, random.chance(50));
    const core = readCoreModule(bytes, LIMITS);
    expect(wrongPositions(core)).toEqual([]);
    looked++;
  }
  expect(looked).toBe(MODULES);
});

test('the same holds for the compiler’s output, and the host’s own functions have no position', async () => {
  const core = readCoreModule(await compileFixtureCore('faulty'));
  expect(wrongPositions(core, WASM_LIMITS_DEFAULT)).toEqual([]);
  const positions = new CodePositions(core, WASM_LIMITS_DEFAULT);
  expect(positions.originalOf({ functionIndex: 0, offset: 100 })).toBeUndefined();
  expect(
    positions.originalOf({ functionIndex: core.functions.length, offset: 100 }),
  ).toBeUndefined();
});

describe('the frames of a trap', () => {
  test('are read from what the engine notes, the innermost first, ten at most', () => {
    const error = new Error('unreachable');
    error.stack = [
      'RuntimeError: unreachable',
      '    at wasm://wasm/0a1b:wasm-function[12]:0x1a2b',
      '    at wasm://wasm/0a1b:wasm-function[7]:0x200',
      '    at handle (file:///host/shard.ts:1:2)',
    ].join('\n');
    expect(trapFrames(error)).toEqual([
      { functionIndex: 12, offset: 0x1a2b },
      { functionIndex: 7, offset: 0x200 },
    ]);
    error.stack = 'wasm-function[1]:0x1 '.repeat(50);
    expect(trapFrames(error)).toHaveLength(10);
  });

  test('are none where there are none', () => {
    expect(trapFrames(new Error('of the host'))).toBeUndefined();
    expect(trapFrames('thrown')).toBeUndefined();
  });
});
