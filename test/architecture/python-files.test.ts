// The rules for the sources in Python: their folders, their length, their names, and what they import.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LINES_MAX, tooLong } from './file-rules.ts';
import { filesOf } from './source-tree.ts';

const root = join(import.meta.dirname, '..', '..');
const files = filesOf(root, 'py');
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
const SDK = 'process-sdk/python/svc_process/';
const sources = files.filter((file) => file.startsWith(SDK));

/** Folders that may have Python: the SDK, programs of users, and tests. */
const FOLDERS = ['process-sdk/python/', 'examples/', 'cli/template/', 'bench/', 'test/'];
/** Packages that are not of Python itself, and the files of the SDK that may import them. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  grpc: ['server.py'],
  google: ['served_stream.py'],
};
/** Modules that give another time or other random numbers at each run, and the files that may import them. */
const CHANCE: Readonly<Record<string, readonly string[]>> = {
  time: [],
  uuid: ['server.py'],
  secrets: [],
  random: ['effects.py', 'contexts.py'],
};

function importsOf(file: string): string[] {
  const found = texts.get(file)!.matchAll(/^(?:from|import) ([a-z_]\w*)/gm);
  return [...found].map(([, name]) => name!);
}

/** Imports of a module or package by a file that may not import it. */
function strays(allowed: Readonly<Record<string, readonly string[]>>): string[] {
  return sources.flatMap((file) =>
    importsOf(file)
      .filter((name) => Object.hasOwn(allowed, name) && !allowed[name]!.includes(basename(file)))
      .map((name) => `${file} → ${name}`),
  );
}

test('there are sources in Python', () => {
  expect(sources.length).toBeGreaterThan(30);
  expect(sources.flatMap(importsOf)).toContain('grpc');
});

describe('a file in Python', () => {
  test('is in a folder that may have it', () => {
    const stray = files.filter((file) => !FOLDERS.some((folder) => file.startsWith(folder)));
    expect(stray).toEqual([]);
  });

  test(`has at most ${LINES_MAX} lines`, () => {
    expect(tooLong(texts)).toEqual([]);
  });

  test('of the SDK says on its first line what it is for, and has a name in snake_case', () => {
    expect(sources.filter((file) => !texts.get(file)!.startsWith('"""'))).toEqual([]);
    expect(sources.filter((file) => !/\/(?:__init__|[a-z]+(?:_[a-z]+)*)\.py$/.test(file))).toEqual(
      [],
    );
  });
});

describe('the SDK for Python', () => {
  test('imports what Debian packages of gRPC, and where it may', () => {
    expect(strays(PACKAGES)).toEqual([]);
  });

  test('takes time and random numbers from the context alone', () => {
    expect(strays(CHANCE)).toEqual([]);
    const clocks = sources.filter((file) =>
      /datetime\.(?:now|utcnow|today)\(/.test(withoutTexts(file)),
    );
    expect(clocks).toEqual([]);
  });
});

/** The text of a file without its literals. */
function withoutTexts(file: string): string {
  return texts.get(file)!.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""');
}
