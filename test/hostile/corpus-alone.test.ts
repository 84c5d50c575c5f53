// The modules of the corpus that are attacks as a whole, each in a host process of its own, while another
// service counts beside them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAMILIES } from '../../fixtures/hostile/families.ts';
import { isAlone } from '../../fixtures/hostile/hostile-case.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { HostileHost } from './support/hostile-host.ts';
import { Neighbour } from './support/neighbour.ts';
import { answerProblem } from './support/run-routed.ts';

const folder = temporaryFolderOfFile();
let other: HostileHost;
let neighbour: Neighbour;

beforeAll(async () => {
  other = await HostileHost.start(folder, 'other', await compileFixture('counter'));
  neighbour = new Neighbour(`${other.url}/counters/n`);
});
afterAll(async () => {
  // Rejects when any of its requests did not succeed.
  await neighbour.stop();
  await other.kill();
});

describe.each(FAMILIES.filter(({ cases }) => cases.some(isAlone)))(
  'the host lives on: $name',
  ({ name: family, cases }) => {
    test.each(cases.filter(isAlone).map((alone, index) => ({ alone, index })))(
      '$alone.name',
      async ({ alone, index }) => {
        const { settings } = alone;
        const host = await HostileHost.start(
          folder,
          `${family.slice(0, 2)}-${index}`,
          await alone.bytes(),
          settings === undefined ? {} : { settings },
        );
        try {
          for (const { method = 'GET', path, answer, times = 1 } of alone.steps)
            for (let left = times; left > 0; left--)
              expect(await answerProblem(host, { method, path }, answer)).toBeUndefined();
          expect(host.lives).toBe(true);
        } finally {
          await host.kill();
        }
      },
    );
  },
);
