// Routes in Python with CORS, checks and declared refusals are described, and answer, as those in TypeScript.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Guest } from '../../../model/guest.ts';
import { serveProcess, type ServedProcess } from '../../../process-sdk/typescript/index.ts';
import { answering, context, request } from '../../suites/hosting-suite.ts';
import { python, startPython } from '../../support/python.ts';
import { connectionTo, guestAt } from '../typescript/support/served-guest.ts';
import { guardedEndpoints } from '../typescript/support/guarded-routes.ts';

const authorization = (name: string): [string, string] => ['authorization', `Bearer ${name}`];

describe.skipIf(python === undefined)('routes in Python', () => {
  let program: Awaited<ReturnType<typeof startPython>>;
  let inPython: Guest;
  let served: ServedProcess;
  let inTypeScript: Guest;
  beforeAll(async () => {
    program = await startPython(join(import.meta.dirname, 'support', 'guarded_routes.py'));
    inPython = await guestAt(connectionTo(program.address));
    served = await serveProcess({ endpoints: guardedEndpoints, port: 0 });
    inTypeScript = await guestAt(connectionTo(served.address));
  });
  afterAll(async () => {
    await inPython.close();
    await inTypeScript.close();
    await served.close();
    program.program.child.kill('SIGKILL');
  });

  test('are described as those in TypeScript', () => {
    const { endpoints } = inPython.descriptor;
    expect(endpoints).toEqual(inTypeScript.descriptor.endpoints);
    expect(endpoints[0]!.cors).toEqual({});
    expect(endpoints[0]!.routes[1]!.refusals).toEqual([
      { status: 401, reason: 'there is no valid token' },
      { status: 403, reason: 'it is not yours; somebody else has it' },
      { status: 409, reason: 'it was sold' },
    ]);
  });

  test.each<[string, number, readonly string[], readonly [string, string][]]>([
    ['a check that refuses', 1, ['ann'], []],
    ['the check after it', 1, ['ann'], [authorization('bob')]],
    ['a handler behind checks', 1, ['ann'], [authorization('ann')]],
    ['a check that answers', 1, ['ann'], [authorization('bob'), ['if-none-match', '1']]],
    ['a check of a route without a parameter', 3, [], [authorization('bob')]],
  ])('%s gives the answer of TypeScript', async (_name, route, parameters, headers) => {
    const given = request(route, { parameters, headers, query: 'a=1' });
    const answers = [inPython, inTypeScript].map(async (guest) =>
      guest.endpoints.handle(context, given, answering({ kind: 'reply', json: 'null' })),
    );
    const [ofPython, ofTypeScript] = await Promise.all(answers);
    expect(ofPython).toEqual(ofTypeScript);
  });

  test('are a fault where a check asks for what the route does not have', async () => {
    const calls = answering({ kind: 'reply', json: 'null' });
    const answer = Promise.resolve(
      inPython.endpoints.handle(context, request(4, { parameters: [] }), calls),
    );
    await expect(answer).rejects.toThrow(
      "handler 'broken' of endpoint 'endpoint_guarded' raised an error",
    );
  });
});
