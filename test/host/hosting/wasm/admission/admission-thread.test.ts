// AdmissionThread: a module is judged in a thread of its own, which is terminated when it takes too much time or
// memory.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { DESCRIPTOR_SECTION } from '@svc/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import type { FromAdmission } from '../../../../../host/hosting/wasm/admission/admission-messages.ts';
import {
  AdmissionThread,
  admitModuleFile,
  judgeInThread,
  reportOfFile,
} from '../../../../../host/hosting/wasm/admission/admission-thread.ts';
import { inspectModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../../host/hosting/wasm/wasm-limits.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { nextThread } from '../../../../support/next-thread.ts';
import {
  component,
  guestWat,
  testDescriptor,
  withCustomSection,
  withDescriptor,
} from '../support/guest-module.ts';

let undescribed: Uint8Array;
let good: Uint8Array;

beforeAll(async () => {
  undescribed = await component(guestWat());
  good = withDescriptor(undescribed, testDescriptor());
});

function fileOf(bytes: Uint8Array): string {
  const file = join(temporaryFolder(), 'module.wasm');
  writeFileSync(file, bytes);
  return file;
}

/** A module that takes many times its size of heap to read. */
const greedy = () =>
  withCustomSection(undescribed, DESCRIPTOR_SECTION, Buffer.from(`[${'[],'.repeat(340_000)}1]`));

describe('a module that is admitted', () => {
  test('comes with code that another thread can run', async () => {
    const { compiled, descriptor } = await admitModuleFile(fileOf(good), WASM_LIMITS_DEFAULT);
    expect(descriptor).toEqual(testDescriptor());
    const other = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
       parentPort.postMessage(WebAssembly.Module.exports(workerData).map(({ name }) => name));`,
      { eval: true, workerData: compiled },
    );
    const names = await new Promise((resolve) => {
      other.once('message', resolve);
    });
    expect(names).toContain('cabi_realloc');
    await other.terminate();
  });

  test('has the report that it has without a thread', async () => {
    const { report } = await judgeInThread(good, WASM_LIMITS_DEFAULT);
    expect(report).toEqual(inspectModule(good));
  });
});

test('a thread that waits for a module judges none when it was aborted before', async () => {
  const thread = new AdmissionThread(WASM_LIMITS_DEFAULT);
  const reason = new Error('given up');
  await expect(thread.judge(good, AbortSignal.abort(reason))).rejects.toBe(reason);
});

describe('a module that is refused', () => {
  test('is refused by its file with the words of its report', async () => {
    const file = fileOf(undescribed);
    const { refusal } = await reportOfFile(file, WASM_LIMITS_DEFAULT);
    expect(refusal).toEqual(inspectModule(undescribed).refusal);
    await expect(admitModuleFile(file, WASM_LIMITS_DEFAULT)).rejects.toMatchObject(refusal!);
  });

  test('as larger than the limit is not read, and reported all the same', async () => {
    const limits = { ...WASM_LIMITS_DEFAULT, moduleBytesMax: good.length - 1 };
    const { refusal } = await reportOfFile(fileOf(good), limits);
    expect(refusal).toEqual(inspectModule(good, limits).refusal);
    expect(refusal?.code).toBe('SVC_MODULE_TOO_LARGE');
  });
});

describe('a module whose admission costs too much', () => {
  test('in time is refused with the name of the setting', async () => {
    const functions = `(func (result i32) ${'i32.const 1 drop '.repeat(20)} i32.const 1)`;
    const large = await component(guestWat({ fields: functions.repeat(60_000) }));
    const limits = { ...WASM_LIMITS_DEFAULT, admissionTimeoutMs: 1 };
    // If this thread could not run in time, the verdict arrives together with the deadline; then the test tries
    // again.
    let isJudged = true;
    while (isJudged) {
      isJudged = false;
      process.once('worker', (thread: Worker) =>
        thread.on('message', ({ kind }: FromAdmission) => {
          isJudged ||= kind === 'judged';
        }),
      );
      await expect(judgeInThread(large, limits)).rejects.toMatchObject({
        code: 'SVC_MODULE_TOO_COSTLY',
        message: expect.stringMatching(/longer than 1 ms .* svc\.wasm\.admission-timeout-ms/),
      });
    }
  });

  test('in memory is refused with the name of the setting, and a good one is not', async () => {
    const limits = { ...WASM_LIMITS_DEFAULT, admissionMemoryMib: 24 };
    await expect(judgeInThread(greedy(), limits)).rejects.toMatchObject({
      code: 'SVC_MODULE_TOO_COSTLY',
      message: expect.stringMatching(/more than 24 MiB .* svc\.wasm\.admission-memory-mib/),
    });
    expect((await judgeInThread(good, limits)).admitted).toBeDefined();
    const { report } = await judgeInThread(greedy(), WASM_LIMITS_DEFAULT);
    expect(report.refusal?.code).toBe('SVC_MODULE_BAD_DESCRIPTOR');
  });

  test('is in the report of its inspection', async () => {
    const limits = { ...WASM_LIMITS_DEFAULT, admissionMemoryMib: 24 };
    const { refusal } = await reportOfFile(fileOf(greedy()), limits);
    expect(refusal?.code).toBe('SVC_MODULE_TOO_COSTLY');
  });
});

describe('an admission that nobody waits for any more', () => {
  test('ends with the reason', async () => {
    const stopped = new AbortController();
    const verdict = judgeInThread(good, WASM_LIMITS_DEFAULT, { signal: stopped.signal });
    stopped.abort(new Error('told to stop'));
    await expect(verdict).rejects.toThrow('told to stop');
  });

  test('does not begin, and starts no thread', async () => {
    const signal = AbortSignal.abort(new Error('told to stop'));
    const before = await nextThread();
    await expect(judgeInThread(good, WASM_LIMITS_DEFAULT, { signal })).rejects.toThrow(
      'told to stop',
    );
    expect(await nextThread()).toBe(before + 1);
    await judgeInThread(good, WASM_LIMITS_DEFAULT);
    expect(await nextThread()).toBe(before + 3);
  });
});
