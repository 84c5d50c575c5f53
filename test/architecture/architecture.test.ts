// The checkout keeps the rules that the compiler does not know: which folder and which workspace may import which, how
// long a file may be, where the environment is read. That each rule notices a violation is in gates.test.ts.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { workspacesOf } from '../../scripts/workspaces.ts';
import { assignedFunctions, LINES_MAX, oddNames, tooLong } from './file-rules.ts';
import {
  cycles,
  environmentReaders,
  bypassedLocations,
  forbiddenImports,
  importsOfRoots,
  impurities,
  joinedAdapters,
  strayPackages,
  UNCHECKED,
  uncovered,
} from './import-rules.ts';
import { filesOf, readTree } from './source-tree.ts';
import { isHeldToWords, retiredWords } from './wording.ts';
import { forbiddenUses, withoutClass, workspaceCycles, workspaceOf } from './workspaces.ts';

const root = join(import.meta.dirname, '..', '..');
const all = filesOf(root, 'ts', 'tsx', 'js', 'mjs');
const tree = readTree(
  root,
  all.filter((file) => !UNCHECKED.includes(file.split('/')[0]!)),
);
const workspaces = workspacesOf(root).map((found) => workspaceOf(found));
/** A published template looks as a user would write it. */
const checked = tree.files.filter((file) => file.includes('/'));
/** Folders through which each request passes. */
const OF_REQUESTS =
  /^(?:components|forward|http1|identity|host\/(?:engine|hosting|http|service-calls|shards))\//;

test('there are sources, imports and workspaces', () => {
  expect(tree.files.length).toBeGreaterThan(400);
  expect(tree.imports.length).toBeGreaterThan(1000);
  expect(workspaces.length).toBeGreaterThan(8);
});

describe('every workspace', () => {
  test('has a class', () => {
    expect(withoutClass(workspaces)).toEqual([]);
  });

  test('imports others by their names, and those that its class may import', () => {
    expect(forbiddenUses(tree.imports, workspaces)).toEqual([]);
  });

  test('depends on no workspace that depends on it', () => {
    expect(workspaceCycles(workspaces)).toEqual([]);
  });
});

describe('every folder', () => {
  test('is covered by a rule', () => {
    expect(uncovered(tree.files, workspaces)).toEqual([]);
  });

  test('imports only what the import rules allow', () => {
    expect(forbiddenImports(tree, workspaces)).toEqual([]);
  });

  test('leaves the composition roots alone', () => {
    expect(importsOfRoots(tree)).toEqual([]);
  });

  test('sees one adapter of host/, except in a composition root', () => {
    expect(joinedAdapters(tree)).toEqual([]);
  });

  test('opens a journal by its location, outside of host/storage', () => {
    expect(bypassedLocations(tree)).toEqual([]);
  });

  test('is free of cycles, types included', () => {
    expect(cycles(tree)).toEqual([]);
  });

  test('uses a package only where its place is', () => {
    expect(strayPackages(tree)).toEqual([]);
  });

  test('leaves the environment to its readers', () => {
    expect(environmentReaders(tree)).toEqual([]);
  });
});

test('model, engine and timers use no node module, clock, timer or chance of their own', () => {
  expect(impurities(tree)).toEqual([]);
});

describe('a file', () => {
  test(`has at most ${LINES_MAX} lines, a test's, a fixture's and a style sheet's too`, () => {
    const files = [...all, ...filesOf(root, 'css')];
    expect(files.filter((file) => file.endsWith('.css'))).not.toEqual([]);
    expect(tooLong(readTree(root, files).texts)).toEqual([]);
  });

  test('says on its first line what it is for', () => {
    const silent = checked.filter(
      (file) => !/^(#!.*\n)?(\/\/ |\/\*\*)/.test(tree.texts.get(file)!),
    );
    expect(silent).toEqual([]);
  });

  test('has no default export', () => {
    expect(checked.filter((file) => /^export default\b/m.test(tree.texts.get(file)!))).toEqual([]);
  });

  test('assigns no function of a request to a property directly, which V8 would keep', () => {
    const texts = [...tree.texts].filter(([file]) => OF_REQUESTS.test(file));
    expect(texts.length).toBeGreaterThan(200);
    expect(assignedFunctions(new Map(texts))).toEqual([]);
  });

  test('has a name in kebab-case that says what is in it', () => {
    expect(oddNames(checked.map((file) => basename(file)))).toEqual([]);
  });
});

describe("TypeScript's projects", () => {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    readonly include: readonly string[];
  };

  test('take every folder without naming any', () => {
    expect(include).toEqual(['**/*.ts']);
  });
});

describe('the words of every source', () => {
  test('are those that the project uses, and a doc comment has a subject', () => {
    const found = tree.files
      .filter(isHeldToWords)
      .flatMap((file) => retiredWords(file, tree.texts.get(file)!));
    expect(found).toEqual([]);
  });
});
