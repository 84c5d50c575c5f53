// Every module of the corpus that is not to be run, given to a real host process: it ends with the
// documented code, says why in one line that a terminal can show, and has touched nothing.
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FAMILIES } from '../../fixtures/hostile/families.ts';
import { isRefused } from '../../fixtures/hostile/hostile-case.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { runToEnd } from './support/hostile-host.ts';
import { UNPRINTABLE } from './support/unprintable.ts';

const EXIT_FAILED = 1;
/** A message, however long the names are that it is about. */
const MESSAGE_LENGTH_MAX = 4000;
const folder = temporaryFolderOfFile();

describe.each(FAMILIES.filter(({ cases }) => cases.some(isRefused)))(
  'the host does not run: $name',
  ({ name: family, cases }) => {
    test.concurrent.each(
      cases.filter(isRefused).map((refused, index) => [refused.name, refused, index] as const),
    )('%s', async (_name, refused, index) => {
      const { settings } = refused;
      const end = await runToEnd(
        folder,
        `${family.slice(0, 2)}-${index}`,
        await refused.bytes(),
        settings === undefined ? {} : { settings },
      );
      const said = /^svc: (.*) \[(SVC_\w+)\]\n$/.exec(end.stderr);
      expect([refused.code].flat()).toContain(said?.[2] ?? end.stderr);
      expect(end.code).toBe(EXIT_FAILED);
      expect(end.stdout).toBe('');
      expect(end.stderr.length).toBeLessThan(MESSAGE_LENGTH_MAX);
      expect(end.stderr.slice(0, -1)).not.toMatch(UNPRINTABLE);
      expect(end.stderr).toContain(refused.says ?? '');
      expect(existsSync(end.dataFolder)).toBe(false);
    });
  },
);
