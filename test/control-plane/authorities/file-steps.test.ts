// Files are replaced as a whole: after any prefix of the steps a reader finds the former files or the new ones, never some of each.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  carryOut,
  fileSetSteps,
  fileSteps,
} from '../../../control-plane/authorities/file-steps.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const set = (version: string) => ({ 'tls.crt': `crt ${version}`, 'tls.key': `key ${version}` });
const contents = (folder: string) =>
  Object.keys(set('')).map((name) => {
    try {
      return readFileSync(join(folder, name), 'utf8');
    } catch {
      return undefined;
    }
  });
const FORMER = ['crt 1', 'key 1'];
const NEW = ['crt 2', 'key 2'];

describe('a set of files', () => {
  test('is the former one or the new one after each step, and whole after the next change', () => {
    const count = fileSetSteps('', set('')).length;
    const seen = new Set<string>();
    for (let killedAfter = 0; killedAfter <= count; killedAfter++) {
      const folder = join(temporaryFolder(), 'identity');
      carryOut(fileSetSteps(folder, set('1')));
      carryOut(fileSetSteps(folder, set('2')).slice(0, killedAfter));
      const found = contents(folder);
      expect([FORMER, NEW]).toContainEqual(found);
      seen.add(String(found));
      carryOut(fileSetSteps(folder, set('3')));
      expect(contents(folder)).toEqual(['crt 3', 'key 3']);
      // The set that is in use, and the one that somebody may be reading.
      const left = readdirSync(folder).filter((name) => name.startsWith('..'));
      expect(left.filter((name) => name.startsWith('..version-'))).toHaveLength(2);
      expect(left).toHaveLength(3);
    }
    expect(seen).toEqual(new Set([String(FORMER), String(NEW)]));
  });

  test('that was never there is whole after the next change, whatever was left of it', () => {
    const count = fileSetSteps('', set('')).length;
    for (let killedAfter = 0; killedAfter <= count; killedAfter++) {
      const folder = join(temporaryFolder(), 'identity');
      carryOut(fileSetSteps(folder, set('1')).slice(0, killedAfter));
      carryOut(fileSetSteps(folder, set('2')));
      expect(contents(folder)).toEqual(NEW);
    }
  });

  test('takes the place of plain files, and leaves other files alone', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'tls.crt'), 'plain');
    writeFileSync(join(folder, 'shop.example.crt'), 'another one');
    carryOut(fileSetSteps(folder, set('2')));
    expect(contents(folder)).toEqual(NEW);
    expect(readFileSync(join(folder, 'shop.example.crt'), 'utf8')).toBe('another one');
  });

  test('can be read by its owner alone, whatever the mask of the process', () => {
    const folder = join(temporaryFolder(), 'identity');
    const mask = process.umask(0);
    try {
      carryOut(fileSetSteps(folder, set('1')));
    } finally {
      process.umask(mask);
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of Object.keys(set('')))
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  test('is not written where the folder around it is gone', () => {
    const folder = join(temporaryFolder(), 'gone', 'identity');
    expect(() => carryOut(fileSetSteps(folder, set('1')))).toThrow('ENOENT');
  });
});

describe('a file', () => {
  test('is the former one or the new one after each step, with the mode that it should have', () => {
    const count = fileSteps('', '', 0).length;
    for (let killedAfter = 0; killedAfter <= count; killedAfter++) {
      const folder = temporaryFolder();
      mkdirSync(folder, { recursive: true });
      const path = join(folder, 'identities.json');
      carryOut(fileSteps(path, 'former', 0o600));
      carryOut(fileSteps(path, 'new', 0o600).slice(0, killedAfter));
      expect(['former', 'new']).toContain(readFileSync(path, 'utf8'));
      carryOut(fileSteps(path, 'next', 0o600));
      expect(readFileSync(path, 'utf8')).toBe('next');
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readdirSync(folder)).toEqual(['identities.json']);
    }
  });
});
