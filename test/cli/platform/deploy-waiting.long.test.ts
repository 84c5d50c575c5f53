// `svc deploy` while it waits: each change is a line, only its own generation counts, and a question that fails says nothing.
import { expect, test, vi } from 'vitest';
import { DeployUnderTest, progressing } from './deploy-under-test.ts';

const under = new DeployUnderTest();

test('each change is a line, and a question that fails is none', async () => {
  under.observed = progressing();
  under.atStatus = (count) => {
    if (count > 3 && count <= 10) return 'cut';
    if (count === 11) return 503;
    if (count > 12) under.observed = undefined;
    return 'pass';
  };
  const { code, stderr } = await under.run();
  expect(code).toBe(0);
  const lines = stderr.split('\n').filter((line) => line.startsWith('cart generation'));
  expect(lines.slice(-2)).toEqual([
    expect.stringMatching(/^cart generation \d+: deploying, 0 of 1 ready$/),
    expect.stringMatching(/^cart generation \d+: ready, 1 of 1 ready$/),
  ]);
  expect(stderr.match(/The deployment continues; asking again\./g)).toHaveLength(1);
});

test('the generation before, which is ready, is not taken for this one', async () => {
  await under.run();
  const before = under.desired!.generation;
  under.observed = { generation: before };
  under.atStatus = (count) => {
    if (count > 4) under.observed = undefined;
  };
  const { stderr } = await under.run();
  expect(stderr).toContain(`cart generation ${before + 1}: deploying, 1 of 1 ready\n`);
});

test('a failure that is only repeated from before is waited out', async () => {
  under.observed = progressing();
  let seen: Promise<void> | undefined;
  let repeated = 0;
  under.atStatus = () => {
    // The control plane sees the failure while the command gets no answer, and then the orchestrator is away.
    under.observed = { rollout: { kind: 'failed', reason: 'no' } };
    seen ??= under.status().then(() => void (under.isAway = true));
    if (!under.isAway) return 'cut';
    if (++repeated === 3) {
      under.observed = undefined;
      under.isAway = false;
      under.atStatus = () => 'pass';
    }
    return 'pass';
  };
  const { code, stderr } = await under.run();
  await seen;
  expect(stderr).toMatch(/cart generation \d+: failed, 1 of 1 ready[^]*: ready, 1 of 1 ready\n/);
  expect(code).toBe(0);
});

test('what is not ready in time continues, and the exit code is 4', async () => {
  under.observed = progressing();
  const { code, stderr } = await under.run('--timeout', '1s');
  expect(code).toBe(4);
  expect(stderr).toMatch(
    /is not ready after 1 s\. The deployment continues: .*\[SVC_DEPLOY_UNFINISHED\]\n$/,
  );
  under.atStatus = () => 'hang';
  expect((await under.run('--timeout', '1s')).code).toBe(4);
});

test('another apply, a deletion and the end of the login end the waiting', async () => {
  const json = {
    name: 'cart',
    image: 'oci:images/shop/cart:x',
    hosting: 'wasm',
    protocol: '0.2.0',
  };
  under.observed = progressing();
  /** Makes a change with the first question, while the command waits. */
  const duringWait = (line: string, body?: object) => {
    const changed = Promise.withResolvers<unknown>();
    let isDone = false;
    under.atStatus = () => {
      if (!isDone) changed.resolve(under.api.done(line, { as: 'ann', json: body }));
      isDone = true;
    };
    return changed.promise;
  };
  const applied = duringWait('PUT /services/shop/cart', json);
  const superseded = await under.run();
  await applied;
  expect(superseded.code).toBe(1);
  expect(superseded.stderr).toMatch(/has generation \d+ by now, .*\[SVC_DEPLOY_SUPERSEDED\]\n$/);

  const removed = duringWait('DELETE /services/shop/cart');
  const deleted = await under.run();
  await removed;
  expect(deleted.stderr).toMatch(/cart was deleted while .*\[SVC_DEPLOY_SUPERSEDED\]\n$/);

  under.atStatus = () => 401;
  expect((await under.run()).code).toBe(3);
});

test('a paused service stays paused, and the command says so', async () => {
  await under.run();
  await under.api.done('POST /services/shop/cart/pause', { as: 'ann' });
  const { code, stderr } = await under.run();
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /cart is paused, so nothing runs\. Start it with svc service resume cart\.\n$/,
  );
  await under.api.done('POST /services/shop/cart/resume', { as: 'ann' });
});

test("a machine's token that expires while the command waits is replaced by another one", async () => {
  const { secret } = under.api.provider.machines.get('ci')!;
  under.api.knows({ subject: 'root', roles: ['platform-admin'] });
  await under.api.done('POST /organizations/acme/members/ci/repair', { as: 'root', json: {} });
  vi.stubEnv('SVC_TOKEN', undefined);
  vi.stubEnv('SVC_CLIENT_ID', 'ci');
  vi.stubEnv('SVC_CLIENT_SECRET', secret);
  under.observed = progressing();
  under.atStatus = (count) => {
    if (count === 2) return 401;
    if (count === 4) under.observed = undefined;
    return 'pass';
  };
  expect((await under.run()).code).toBe(0);
});
