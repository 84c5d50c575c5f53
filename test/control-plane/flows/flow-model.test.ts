// Random requests, alone and at the same time, against a small reference.
import { array, assert, asyncProperty } from 'fast-check';
import { expect, test } from 'vitest';
import { startControlPlane } from '../control-plane-under-test.ts';
import { FlowHistory, sendRound } from './flow-history.ts';
import { requests, type Request } from './flow-reference.ts';

const rounds = array(array(requests, { minLength: 1, maxLength: 8 }), {
  minLength: 3,
  maxLength: 12,
});

test.each([
  ['alone', 12, (found: Request[][]) => found.flat().map((request) => [request])],
  ['at the same time', 40, (found: Request[][]) => found],
])('requests that are sent %s answer as the reference does', async (_how, runCount, roundsOf) => {
  const { call } = await startControlPlane();
  let runs = 0;
  const checked = assert(
    asyncProperty(rounds, async (found) => {
      const history = new FlowHistory(call, `r${runs++}`);
      await sendRound(history, [{ kind: 'createOrganization', id: 'o1' }]);
      await sendRound(history, [{ kind: 'createProject', id: 'p1', parent: 'o1' }]);
      for (const round of roundsOf(found)) await sendRound(history, round);
    }),
    { numRuns: runCount },
  );
  await expect(checked).resolves.toBeUndefined();
});
