// The output of a service is that of its members' programs, each instance with its own error.
import { expect, test } from 'vitest';
import type { FoundPod } from '../../../control-plane/kubernetes/found-objects.ts';
import { manifestsOf } from '../../../control-plane/kubernetes/manifests/service-manifests.ts';
import { readServiceLogs } from '../../../control-plane/kubernetes/service-logs.ts';
import type { LogQuery } from '../../../control-plane/orchestration/orchestrator.ts';
import {
  desiredService,
  EMBEDDED,
  installation,
  PROCESS,
  WASM,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import { podOf } from '../../support/kubernetes/read-manifests.ts';
import { answerJson, ScriptedApi, statusObject } from '../../support/kubernetes/scripted-api.ts';
import { pod } from './observed-objects.ts';

const never = new AbortController().signal;
const ALL: LogQuery = { previous: false, bytesMax: 1000 };

/** A server whose output is the name of the container, unless the pod is broken. */
function openApi(): Promise<ScriptedApi> {
  return ScriptedApi.start(({ path, query }, response) => {
    if (path.includes('/broken/'))
      answerJson(response, 500, statusObject(500, 'InternalError', 'the node is away'));
    else response.end(`of ${query['container']}\n`);
  });
}

async function logs(pods: readonly FoundPod[], query: LogQuery = ALL) {
  await using api = await openApi();
  return await readServiceLogs(api.client(), pods, query, never);
}

test.each([
  { descriptor: EMBEDDED, container: 'service' },
  { descriptor: PROCESS, container: 'service' },
  { descriptor: WASM, container: 'runtime' },
  { descriptor: WEB, container: 'service' },
])('the output of a pod is that of the program: $descriptor.name', async (given) => {
  const { descriptor, container } = given;
  const { containers } = podOf(manifestsOf(desiredService(descriptor), installation()));
  const spec = { containers: containers.map(({ name }) => ({ name })) };
  expect(await logs([pod('cart-1', { spec })])).toEqual([
    { instance: 'cart-1', output: `of ${container}\n`, error: null },
  ]);
});

test('an instance that cannot be read has an error, and the others their output', async () => {
  expect(await logs([pod('ready'), pod('broken')])).toEqual([
    { instance: 'broken', output: '', error: 'the node is away' },
    { instance: 'ready', output: 'of service\n', error: null },
  ]);
});

test('instances that are over have none, and those that crash have theirs', async () => {
  const crashing = pod('crashing', { isReady: false });
  const evicted = pod('evicted', { isReady: false, phase: 'Failed' });
  const found = await logs([crashing, evicted]);
  expect(found.map(({ instance }) => instance)).toEqual(['crashing']);
});

test('instances share the bytes, and only the one that is asked for is read', async () => {
  const pods = [pod('a'), pod('b')];
  const shared = await logs(pods, { ...ALL, bytesMax: 8 });
  expect(shared.map(({ output }) => output)).toEqual(['ice\n', 'ice\n']);
  const one = await logs(pods, { ...ALL, bytesMax: 8, instance: 'b' });
  expect(one).toEqual([{ instance: 'b', output: 'service\n', error: null }]);
  expect(await logs(pods, { ...ALL, instance: 'nobody' })).toEqual([]);
});

test('a call that is not waited for any more ends with the reason of its signal', async () => {
  await using api = await openApi();
  const stopping = new AbortController();
  stopping.abort(new Error('nobody waits'));
  await expect(readServiceLogs(api.client(), [pod('a')], ALL, stopping.signal)).rejects.toThrow(
    'nobody waits',
  );
});
