// What runs follows what is desired: after deletions, kills, restarts and failed rollouts, and at what pace.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { deleteService } from '../../../control-plane/flows/delete-service.ts';
import { service } from '../../../control-plane/model/service.ts';
import { workload } from '../../../control-plane/model/workload.ts';
import {
  GOOD_IMAGE,
  MISSING_IMAGE,
  OTHER_IMAGE,
} from '../../support/scripted-orchestrator/scripted-orchestrator.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { accepted, givenProject } from '../control-plane-under-test.ts';
import {
  KEY,
  OrchestratedControlPlane,
  ann,
  isReady,
  type StartOptions,
} from './orchestrated-control-plane.ts';

async function givenReady(options: StartOptions = {}): Promise<OrchestratedControlPlane> {
  const control = await OrchestratedControlPlane.start(options);
  await givenProject(control.call, 'shop', 'web');
  await control.apply();
  await control.until(isReady);
  return control;
}

const remove = async (control: OrchestratedControlPlane, key = KEY) =>
  accepted(await deleteService(control.call, key, ann));
const entries = async (control: OrchestratedControlPlane) =>
  (await control.call(service, 'web/cart').events()).map(({ event }) => event);
const isGone = (control: OrchestratedControlPlane) => async () =>
  (await control.orchestrator.observe(KEY)).kind === 'none';

describe('hard case 18', () => {
  test('a control plane that is killed before the orchestrator has heard of an apply makes it after the restart', async () => {
    const dataFolder = temporaryFolder();
    const program = spawn(
      process.execPath,
      [join(import.meta.dirname, 'silent-control-plane.ts'), dataFolder],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = await once(createInterface(program.stdout), 'line');
    expect(line).toBe('applied generation 1, and asked the orchestrator');
    program.kill('SIGKILL');
    await once(program, 'exit');
    const control = await OrchestratedControlPlane.start({ dataFolder });
    expect(await control.until(isReady)).toMatchObject({ generation: 1, confirmed: true });
    expect((await entries(control)).map(({ type }) => type)).toEqual(['applied']);
  }, 60_000);

  test('a deleted service is removed after the restart', async () => {
    const dataFolder = temporaryFolder();
    const earlier = await givenReady({ dataFolder });
    earlier.orchestrator.failAll('fails');
    await remove(earlier);
    await earlier.clock.advance(10_000);
    await earlier.stop();
    earlier.orchestrator.failAll(undefined);
    expect(earlier.orchestrator.instancesOf(KEY)).toHaveLength(2);
    const control = await OrchestratedControlPlane.start({ dataFolder, earlier });
    await control.clock.until(isGone(control));
    // Once it is gone, it is looked at no more.
    await control.clock.until(async () => {
      const asked = control.orchestrator.asked.get('observe');
      await control.clock.advance(1_000_000);
      return control.orchestrator.asked.get('observe') === asked;
    });
  });
});

describe('hard case 19', () => {
  test('an apply right after the deletion of the name waits until nothing is left of the former service', async () => {
    const control = await givenReady();
    control.orchestrator.images.set(GOOD_IMAGE, { pullMs: 100, startMs: 100, stopMs: 20_000 });
    control.orchestrator.reconciled.length = 0;
    await control.apply();
    await control.until(isReady);
    const before = new Set(control.orchestrator.instancesOf(KEY).map(({ name }) => name));
    await remove(control);
    expect(await control.apply({ image: OTHER_IMAGE })).toBe(3);
    expect(await control.status()).toMatchObject({ lifecycle: 'pending', generation: 3 });
    const waiting = await control.until(({ detail }) => detail !== undefined);
    expect(waiting).toMatchObject({
      lifecycle: 'pending',
      readyInstances: 0,
      detail: 'waiting until nothing is left of the deleted service of this name',
    });
    await control.clock.advance(10_000);
    const { claim } = await control.state();
    const isOfNewLife = () =>
      control.orchestrator.reconciled.some(
        (wanted) => wanted.kind === 'desired' && wanted.incarnation === claim,
      );
    expect(isOfNewLife()).toBe(false);
    await control.clock.until(() => {
      const isLeft = control.orchestrator.instancesOf(KEY).some(({ name }) => before.has(name));
      expect(isLeft && isOfNewLife()).toBe(false);
      return isOfNewLife();
    });
    expect(await control.until(isReady)).toMatchObject({ generation: 3, image: OTHER_IMAGE });
  });

  test('the teardown goes on when the control plane is restarted in between', async () => {
    const dataFolder = temporaryFolder();
    const earlier = await givenReady({ dataFolder });
    earlier.orchestrator.failAll('hangs');
    await remove(earlier);
    await earlier.apply({ image: OTHER_IMAGE });
    await earlier.stop();
    earlier.orchestrator.failAll(undefined);
    earlier.orchestrator.reconciled.length = 0;
    const control = await OrchestratedControlPlane.start({ dataFolder, earlier });
    await control.until(isReady);
    expect(control.orchestrator.reconciled[0]).toEqual({ kind: 'removed', key: KEY });
    expect(control.orchestrator.instancesOf(KEY).map(({ image }) => image)).toEqual([
      OTHER_IMAGE,
      OTHER_IMAGE,
    ]);
  });

  test('deleting and applying again and again ends with the last one, and with nothing else', async () => {
    const control = await givenReady();
    for (let times = 0; times < 5; times++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await remove(control);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await control.apply({ image: OTHER_IMAGE });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await control.clock.advance(times * 150);
    }
    await control.until(isReady);
    const { claim } = await control.state();
    expect(await control.orchestrator.observe(KEY)).toMatchObject({ incarnation: claim });
    await control.clock.until(() => control.orchestrator.instancesOf(KEY).length === 2);
    await remove(control);
    await control.clock.until(isGone(control));
    expect(accepted(await control.call(workload, 'web/cart').last()).end).toBeUndefined();
  });
});

describe('hard case 20', () => {
  test('an image that cannot be pulled leaves the old instances serving, fails after the deadline, and the next apply recovers', async () => {
    const control = await givenReady();
    await control.apply({ image: MISSING_IMAGE });
    const detail = `cannot pull ${MISSING_IMAGE}: not found`;
    expect(await control.until((status) => status.detail !== undefined)).toMatchObject({
      lifecycle: 'deploying',
      readyInstances: 2,
      detail,
    });
    await control.clock.advance(600_000);
    expect(await control.status()).toMatchObject({
      lifecycle: 'failed',
      readyInstances: 2,
      generation: 2,
      detail: `the rollout made no progress for 600 s: ${detail}`,
    });
    await control.apply({ image: OTHER_IMAGE });
    expect((await control.status()).detail).toBeUndefined();
    expect(await control.until(isReady)).toMatchObject({ generation: 3, readyInstances: 2 });
  });

  test('an orchestrator that gives a rollout up is quoted, also after a restart while it is down', async () => {
    const dataFolder = temporaryFolder();
    const earlier = await OrchestratedControlPlane.start({ dataFolder });
    earlier.orchestrator.giveUpMs = 30_000;
    await givenProject(earlier.call, 'shop', 'web');
    await earlier.apply({ image: MISSING_IMAGE });
    const detail = `cannot pull ${MISSING_IMAGE}: not found`;
    await earlier.until((status) => status.detail !== undefined);
    await earlier.clock.advance(100_000);
    expect(await earlier.status()).toMatchObject({ lifecycle: 'failed', detail });
    await earlier.clock.until(
      async () => accepted(await earlier.call(workload, 'web/cart').last()).end !== undefined,
    );
    await earlier.stop();
    earlier.orchestrator.failAll('fails');
    const control = await OrchestratedControlPlane.start({ dataFolder, earlier });
    expect(await control.status()).toMatchObject({
      lifecycle: 'failed',
      confirmed: false,
      detail: `${detail}; the orchestrator does not answer, so this is what was last known`,
    });
    // The image appears, and the rollout that was given up is complete by itself.
    control.orchestrator.failAll(undefined);
    await control.apply({ image: OTHER_IMAGE });
    await control.until(isReady);
  });
});

describe('the pace', () => {
  test('sixteen services are reconciled at the same time, and each by one worker', async () => {
    const control = await OrchestratedControlPlane.start();
    await givenProject(control.call, 'shop', 'web');
    control.orchestrator.reconcileMs = 1000;
    const keys = Array.from({ length: 40 }, (_, n) => ({ project: 'web', service: `s${n}` }));
    await Promise.all(keys.map((key) => control.apply({}, key)));
    await Promise.all(keys.map((key) => control.apply({}, key)));
    for (const key of keys)
      // oxlint-disable-next-line no-await-in-loop -- time passes for one after the other
      expect((await control.until(isReady, key)).generation).toBe(2);
    expect(control.orchestrator.maxUnderWay).toBe(16);
    expect(control.orchestrator.maxUnderWayOfOne).toBe(1);
  });

  test('every service is compared with what runs every five minutes', async () => {
    const control = await givenReady();
    await control.clock.advance(10_000);
    // What the orchestrator has lost without a report is found.
    control.orchestrator.lose(KEY);
    expect((await control.status()).lifecycle).toBe('pending');
    await control.clock.advance(310_000);
    expect((await control.status()).lifecycle).toBe('ready');
  });
});
