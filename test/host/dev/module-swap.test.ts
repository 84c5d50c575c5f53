// ModuleSwap: which module counts as served when a replacement fails, with real admissions and a stand-in for the
// supervisor.
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import { moduleReader } from '../../../host/service/module-source.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { ModuleSwap, type SwappedService } from '../../../host/dev/module-swap.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const good = join(folder, 'good.wasm');
const broken = join(folder, 'broken.wasm');

beforeAll(async () => {
  writeFileSync(good, await compileFixture('counter'));
  writeFileSync(broken, 'no module');
});

function swapping(takeOver: () => Promise<unknown>, begins = async () => {}) {
  const told: string[] = [];
  let ended = 0;
  const swap = new ModuleSwap({
    file: 'first.wasm',
    supervisor: {
      standBy: (module: Promise<unknown>) => {
        module.catch(() => {});
        return { admitted: module, end: async () => void (ended += 1) };
      },
      takeOver,
    },
    journal: { dir: folder, noteModule: () => told.push('noted') },
    begins,
    newReader: () => moduleReader({ wasm: WASM_LIMITS_DEFAULT }, {}),
    replaced: () => told.push('shown'),
  } as unknown as SwappedService);
  return { swap, told, ended: () => ended };
}

const failure = new SvcError('SVC_SHARD_FAILED', 'It ended.');

describe('another module', () => {
  test('is what is served once it has taken over, and is noted and shown then', async () => {
    const { swap, told } = swapping(async () => {
      expect(told).toEqual([]);
    });
    expect(swap.servedFile).toBe('first.wasm');
    await swap.replace(good);
    expect(swap.servedFile).toBe(good);
    expect(told).toEqual(['noted', 'shown']);
  });

  test('serves once it is stored where its consumers begin, and not if that fails', async () => {
    const steps: string[] = [];
    let refusal: Error | undefined;
    const { swap, told } = swapping(
      async () => void steps.push('serves'),
      async () => {
        steps.push('begins');
        if (refusal !== undefined) throw refusal;
      },
    );
    await swap.replace(good);
    expect(steps).toEqual(['begins', 'serves']);
    refusal = new SvcError('SVC_DISK_FULL', 'full');
    await expect(swap.replace(broken)).rejects.toMatchObject({ code: 'SVC_MODULE_NOT_WASM' });
    await expect(swap.replace(good)).rejects.toBe(refusal);
    expect(steps).toEqual(['begins', 'serves', 'begins']);
    expect(swap.servedFile).toBe(good);
    expect(told).toEqual(['noted', 'shown']);
  });

  test('that is refused leaves the one before, and no thread', async () => {
    const { swap, told, ended } = swapping(async () => {});
    await expect(swap.replace(broken)).rejects.toMatchObject({ code: 'SVC_MODULE_NOT_WASM' });
    expect(swap.servedFile).toBe('first.wasm');
    expect(told).toEqual([]);
    expect(ended()).toBe(1);
  });

  test('that fails as it takes over is noted and shown, for it is tried again and the one before is gone', async () => {
    const { swap, told } = swapping(async () => Promise.reject(failure));
    await expect(swap.replace(good)).rejects.toBe(failure);
    expect(swap.servedFile).toBeUndefined();
    expect(told).toEqual(['noted', 'shown']);
  });

  test('that was tried again until it served is what is served then', async () => {
    const { swap } = swapping(async () => Promise.reject(failure));
    expect(swap.recovered()).toBeUndefined();
    await expect(swap.replace(good)).rejects.toBe(failure);
    expect(swap.recovered()).toMatchObject({ file: good });
    expect(swap.servedFile).toBe(good);
    // Its thread ended by itself, and was started again.
    expect(swap.recovered()).toBeUndefined();
  });

  test('is not taken for the one before it, which served again too late', async () => {
    const takeOvers = [async () => Promise.reject(failure)];
    const { swap } = swapping(async () => takeOvers.shift()?.());
    const later = join(folder, 'later.wasm');
    copyFileSync(good, later);
    await expect(swap.replace(good)).rejects.toBe(failure);
    takeOvers.push(async () => {
      expect(swap.recovered()).toBeUndefined();
      throw failure;
    });
    await expect(swap.replace(later)).rejects.toBe(failure);
    expect(swap.recovered()).toMatchObject({ file: later });
  });

  test('is neither when the service is stopped meanwhile', async () => {
    const { swap, told } = swapping(async () => {
      await swap.close();
      throw failure;
    });
    await expect(swap.replace(good)).rejects.toBe(failure);
    expect(told).toEqual([]);
  });
});
