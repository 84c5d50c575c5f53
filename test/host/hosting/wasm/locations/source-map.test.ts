// SourceMap compared with a well-known reader of source maps, and with texts that are no map of the module.
import { TraceMap, eachMapping } from '@jridgewell/trace-mapping';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildComponent, type BuiltComponent } from '../../../../../guest-sdk/compiler/index.ts';
import {
  SourceMap,
  SourceMapError,
} from '../../../../../host/hosting/wasm/locations/source-map.ts';
import { UserProjects, entity } from '../../../../guest-sdk/support/user-projects.ts';

const MODULE = 'f'.repeat(64);
const WHOLE = { start: 0, end: 2 ** 31 };
const map = (more: object) =>
  JSON.stringify({
    version: 3,
    sources: ['cart.ts'],
    names: [],
    mappings: 'AAAA',
    x_svc_module: MODULE,
    ...more,
  });

describe('a map of a build', () => {
  let projects: UserProjects;
  let built: BuiltComponent;
  let entryFile: string;

  beforeAll(async () => {
    projects = await UserProjects.open();
    entryFile = await projects.write({
      'index.ts': entity('@query("get") get(s: State): State { return s; }'),
    });
    built = await buildComponent({ entryFile });
  });

  afterAll(() => projects.remove());

  test('leads every byte to the line that another reader finds', () => {
    const { sourceMap } = built;
    const read = new SourceMap(JSON.stringify(sourceMap), sourceMap!.x_svc_module);
    let looked = 0;
    eachMapping(new TraceMap(JSON.stringify(sourceMap)), (mapping) => {
      if (mapping.source === null) return;
      looked++;
      const offset = mapping.generatedColumn;
      const location = read.locationsOf({ offset, start: offset, end: offset + 1 }, 0)[0];
      expect(location).toMatchObject({
        file: mapping.source,
        line: mapping.originalLine,
        column: mapping.originalColumn + 1,
      });
    });
    expect(looked).toBeGreaterThan(1000);
  });

  test('distinguishes the SDK’s sources from the author’s, and holds no text of either', () => {
    const { sources } = built.sourceMap!;
    expect(sources.filter((source) => !source.startsWith('~lib/'))).toEqual(['index.ts']);
    expect(sources).toContain('~lib/@svc/written/index.ts');
    expect(built.sourceMap).not.toHaveProperty('sourcesContent');
    expect(built.sourceMap!.x_svc_functions.join(' ')).toContain('#');
  });

  test('the same source gives the same module bytes as without a map', async () => {
    const without = await buildComponent({ entryFile, sourceMap: false });
    expect(without.sourceMap).toBeUndefined();
    expect(Buffer.from(without.component).equals(built.component)).toBe(true);
  });
});

describe('a location', () => {
  test('before the first of a function that is known is the first of it', () => {
    const read = new SourceMap(map({ mappings: 'EAAA,IAEE' }), MODULE);
    expect(read.locationsOf({ offset: 3, start: 3, end: 9 }, 0)[0]).toMatchObject({
      line: 3,
      column: 3,
    });
    expect(read.locationsOf({ offset: 3, start: 3, end: 6 }, 0)[0]).toBeUndefined();
  });

  test('of code without a source is that of what stands before it', () => {
    const read = new SourceMap(map({ mappings: 'EAAA,I,IAEE' }), MODULE);
    expect(read.locationsOf({ offset: 7, start: 0, end: 99 }, 0)[0]).toMatchObject({ line: 1 });
  });

  test('in inlined code of the standard library is returned with the author’s line before it', () => {
    const sources = ['~lib/@svc/written/cart.ts', 'cart.ts', '~lib/array.ts'];
    const read = new SourceMap(map({ sources, mappings: 'AAAA,ECEA,ECEA,EFEA' }), MODULE);
    const files = (offset: number, start = 0) =>
      read.locationsOf({ offset, start, end: 99 }, 0).map(({ file }) => file);
    expect(files(4)).toEqual(['~lib/array.ts', 'cart.ts']);
    expect(files(4, 3)).toEqual(['~lib/array.ts']);
    expect(files(6)).toEqual(['~lib/@svc/written/cart.ts']);
  });

  test('is named as from the folder of the map, and its function as its author wrote it', () => {
    const read = new SourceMap(
      map({
        sourceRoot: '../../assembly/',
        x_svc_functions: ['cart/Cart#add', 'a/f<b/C>', 'start:cart'],
      }),
      MODULE,
    );
    expect(read.locationsOf({ offset: 0, ...WHOLE }, 0)[0]).toEqual({
      file: 'assembly/cart.ts',
      line: 1,
      column: 1,
      function: 'Cart.add',
    });
    expect(read.locationsOf({ offset: 0, ...WHOLE }, 1)[0]?.function).toBe('f<C>');
    expect(read.locationsOf({ offset: 0, ...WHOLE }, 2)[0]?.function).toBeNull();
    expect(read.locationsOf({ offset: 0, ...WHOLE }, 3)[0]?.function).toBeNull();
  });
});

test('a map that does not belong to the module is not used', () => {
  const other = map({ x_svc_module: 'e'.repeat(64) });
  expect(() => new SourceMap(other, MODULE)).toThrow('another build');
});

test.each([
  ['no JSON', '{'],
  ['a list', '[]'],
  ['null', 'null'],
  ['another version', map({ version: 2 })],
  ['several lines', map({ mappings: 'AAAA;AAAA' })],
  ['no mappings', map({ mappings: 7 })],
  ['sources that are no texts', map({ sources: [7] })],
  ['a root that is no text', map({ sourceRoot: 7 })],
  ['what is no digit', map({ mappings: 'A!AA' })],
  ['half a segment', map({ mappings: 'AA' })],
  ['a number without an end', map({ mappings: 'gggggggggg' })],
  ['a line before the first', map({ mappings: 'AADA' })],
  ['offsets that run backwards', map({ mappings: 'IAAA,DAAA' })],
])('a map that is %s is refused', (_what, text) => {
  expect(() => new SourceMap(text, MODULE)).toThrow(SourceMapError);
});
