// The mechanism of `npm run mutants`: rows are well formed, anchors are found by function and expression, and a
// mutation changes what it says. That each anchor is still there, and that tests notice, is what `npm run mutants` shows.
import { describe, expect, test } from 'vitest';
import {
  type Mutant,
  type Mutation,
  malformations,
  mutantLists,
} from '../support/mutants/mutant.ts';
import { parseShard, selectMutants } from '../support/mutants/mutant-selection.ts';
import { mutated, scopesOf } from '../support/mutants/mutated-source.ts';
import { findPattern, parsePattern, parseSource } from '../support/mutants/source-pattern.ts';

const SOURCE = `
const LIMITS = { calls: 3, bytes: 4 };
export class Gate {
  #open = true;
  // Refuses what is too large.
  check(value: number): void {
    if (value >
        LIMITS.bytes) throw new Error("too large");
    this.#count(value, 1);
  }
  #count(value: number, by: number) { return value + by; }
}
export async function admit(gate: Gate): Promise<void> {
  if (gate === undefined) throw new Error('no gate');
  await gate.check(1);
}
`;
const program = parseSource('gate.ts', SOURCE);

/** What the places of an anchor hold, in the example above. */
function found(name: string | undefined, at: string): readonly string[] {
  return scopesOf(program, name)
    .flatMap((scope) => findPattern(scope, parsePattern(at)!))
    .map(({ start, end }) => SOURCE.slice(start, end));
}

/** The only line of the example that a mutation changes, as it is then. */
function changed(name: string | undefined, at: string, mutation: Mutation): string {
  const pattern = parsePattern(at)!;
  const [range] = scopesOf(program, name).flatMap((scope) => findPattern(scope, pattern));
  const text = mutated(SOURCE, range!, pattern.kind, mutation);
  parseSource('gate.ts', text);
  const before = SOURCE.split('\n');
  const lines = text.split('\n').filter((line) => !before.includes(line));
  return lines.join('\n').trim();
}

const rows = [...mutantLists().values()].flat();

describe('the rows', () => {
  test('are well formed, and no two checks have one name', () => {
    expect(rows.flatMap((row) => malformations(row))).toEqual([]);
    const names = rows.map(({ check }) => check);
    expect(names.length).toBeGreaterThan(200);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  const row: Mutant = {
    check: 'gate.size',
    in: 'Gate.check',
    at: 'value > LIMITS.bytes',
    mutation: 'false',
    tests: ['gate › refuses what is too large'],
  };

  test('can be as short as this', () => {
    expect(malformations(row)).toEqual([]);
  });

  test.each<[string, object]>([
    ['without a name', { check: '' }],
    ['with a key that is none', { find: 'x' }],
    ['without function and file', { in: undefined }],
    ['without a test', { tests: [] }],
    ['whose test names no file', { tests: ['refuses'] }],
    ['whose anchor does not parse', { at: 'if (' }],
    ['whose anchor is empty', { at: ' ' }],
    ['with a mutation that is none', { mutation: 'maybe' }],
    ['that makes a statement false', { at: 'return;', mutation: 'false' }],
    ['whose replacement is no text', { mutation: { replaceBy: 3 } }],
  ])('are refused %s', (_name, change) => {
    const odd = Object.fromEntries(
      Object.entries({ ...row, ...change }).filter(([, value]) => value !== undefined),
    );
    expect(malformations(odd as unknown as Mutant)).not.toEqual([]);
  });
});

describe('an anchor', () => {
  test.each<[string, string | undefined, string, number]>([
    ['in a method, whatever its white space', 'Gate.check', 'value>LIMITS.bytes', 1],
    ['in a method, whatever its quotes', 'Gate.check', "throw new Error('too large')", 1],
    ['in a private method', 'Gate.#count', 'value + by', 1],
    ['in a class', 'Gate', 'this.#count(value, 1)', 1],
    ['in a function', 'admit', 'await gate.check(1)', 1],
    ['in a constant', 'LIMITS', 'calls: 3', 1],
    ['in a file', undefined, 'gate === undefined', 1],
    ['with anything as the condition', 'admit', 'if (_) throw _;', 1],
    ['with any other arguments', 'Gate.check', 'this.#count(..._)', 1],
    ['with any body', 'Gate.check', 'if (value > _) _', 1],
    ['of several statements', 'Gate.check', 'if (_) _; this.#count(value, 1);', 1],
    ['that stands in another function only', 'admit', 'value + by', 0],
    ['of another value', 'Gate.check', 'this.#count(value, 2)', 0],
    ['that stands twice', undefined, 'if (_) throw _;', 2],
    ['in a function that is not there', 'Gate.close', '_', 0],
  ])('is found %s', (_name, scope, at, count) => {
    expect(found(scope, at)).toHaveLength(count);
  });
});

describe('a mutation', () => {
  test.each<[string, string, string, Mutation, string]>([
    ['removes a statement', 'Gate.check', 'this.#count(value, 1);', 'remove', ';'],
    ['removes a property', 'LIMITS', 'calls: 3', 'remove', 'const LIMITS = {  bytes: 4 };'],
    [
      'makes a condition true',
      'admit',
      'gate === undefined',
      'true',
      "if (true) throw new Error('no gate');",
    ],
    [
      'makes a condition false',
      'admit',
      'gate === undefined',
      'false',
      "if (false) throw new Error('no gate');",
    ],
    [
      'replaces an expression, as one',
      'Gate.#count',
      'value + by',
      { replaceBy: 'value - by' },
      '#count(value: number, by: number) { return (value - by); }',
    ],
    ['replaces a text', 'admit', 'await _', { replaceText: '1', by: '2' }, 'await gate.check(2);'],
  ])('%s', (_name, scope, at, mutation, line) => {
    expect(changed(scope, at, mutation)).toBe(line);
  });
});

const all = { check: '', shard: [1, 1] as const, sample: Infinity, seed: 1 };

function sample(seed: number): readonly Mutant[] {
  return selectMutants(rows, { ...all, sample: 20, seed });
}

describe('a selection', () => {
  test('in shards has every row once', () => {
    const parts = [1, 2, 3].flatMap((part) => selectMutants(rows, { ...all, shard: [part, 3] }));
    expect(parts.map(({ check }) => check).toSorted()).toEqual(
      rows.map(({ check }) => check).toSorted(),
    );
  });

  test('is the same for the same seed, and another for another', () => {
    expect(sample(7)).toHaveLength(20);
    expect(sample(7)).toEqual(sample(7));
    expect(sample(7)).not.toEqual(sample(8));
  });

  test.each(['', '0/4', '5/4', '1/0', '1', 'a/b'])('has no shard %j', (text) => {
    expect(parseShard(text)).toBeUndefined();
  });

  test('has a shard 2/4', () => {
    expect(parseShard('2/4')).toEqual([2, 4]);
  });
});
