// What statuses say while services are applied, paused, suspended, deleted and applied again, and while the orchestrator works
// or does not.
import { describe, expect, test } from 'vitest';
import { organization } from '../../../control-plane/model/organization.ts';
import { service } from '../../../control-plane/model/service.ts';
import { workload } from '../../../control-plane/model/workload.ts';
import {
  MISSING_IMAGE,
  OTHER_IMAGE,
} from '../../support/scripted-orchestrator/scripted-orchestrator.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { accepted, administrator, givenProject } from '../control-plane-under-test.ts';
import {
  KEY,
  OrchestratedControlPlane,
  ann,
  isReady,
  type StartOptions,
} from './orchestrated-control-plane.ts';

async function given(options: StartOptions = {}): Promise<OrchestratedControlPlane> {
  const control = await OrchestratedControlPlane.start(options);
  await givenProject(control.call, 'shop', 'web');
  return control;
}

async function givenReady(options: StartOptions = {}): Promise<OrchestratedControlPlane> {
  const control = await given(options);
  await control.apply();
  await control.until(isReady);
  return control;
}

const recorded = async (control: OrchestratedControlPlane) =>
  accepted(await control.call(workload, 'web/cart').last()).end;

const kinds = async (control: OrchestratedControlPlane) => {
  const events = await control.call(service, 'web/cart').events();
  return events.map(({ event }) => event.type);
};

describe('a service', () => {
  test('goes from pending over deploying to ready, and is confirmed', async () => {
    const control = await given();
    await control.apply();
    expect(await control.lastStatus()).toMatchObject({ lifecycle: 'pending', confirmed: false });
    expect(await control.until(({ lifecycle }) => lifecycle === 'deploying')).toMatchObject({
      confirmed: true,
      readyInstances: 0,
      desiredInstances: 2,
    });
    expect(await control.until(isReady)).toMatchObject({
      generation: 1,
      confirmed: true,
      readyInstances: 2,
      database: 'provisioned',
    });
  });

  test('is degraded and unavailable while instances are down, and ready again', async () => {
    const control = await givenReady();
    const [first, second] = control.orchestrator.instancesOf(KEY);
    first!.crash();
    expect(await control.status()).toMatchObject({
      lifecycle: 'degraded',
      readyInstances: 1,
      detail: `${first!.name} has crashed`,
    });
    second!.crash();
    expect(await control.status()).toMatchObject({ lifecycle: 'unavailable', readyInstances: 0 });
    await control.until(isReady);
  });

  test('is paused while its instances stop, and deploys when it is resumed', async () => {
    const control = await givenReady();
    accepted(await control.call(service, 'web/cart').pause({ by: ann }));
    expect(await control.status()).toMatchObject({
      lifecycle: 'paused',
      readyInstances: 2,
      desiredInstances: 0,
    });
    await control.until(({ readyInstances }) => readyInstances === 0);
    await control.clock.until(() => control.orchestrator.instancesOf(KEY).length === 0);
    accepted(await control.call(service, 'web/cart').resume({ by: ann }));
    expect((await control.status()).lifecycle).toBe('deploying');
    expect((await control.until(isReady)).generation).toBe(1);
  });

  test('is restarted with every instance replaced', async () => {
    const control = await givenReady();
    const before = new Set(control.orchestrator.instancesOf(KEY).map(({ name }) => name));
    accepted(await control.call(service, 'web/cart').restart({ by: ann }));
    expect((await control.status()).lifecycle).toBe('deploying');
    expect((await control.until(isReady)).generation).toBe(2);
    await control.clock.until(() =>
      control.orchestrator.instancesOf(KEY).every(({ name }) => !before.has(name)),
    );
  });

  test('has failed when its rollout makes no progress for ten minutes', async () => {
    const control = await given();
    await control.apply({ image: MISSING_IMAGE });
    await control.until(({ lifecycle }) => lifecycle === 'deploying');
    await control.clock.advance(590_000);
    expect((await control.status()).lifecycle).toBe('deploying');
    await control.clock.advance(10_000);
    const failed = await control.status();
    expect(failed.lifecycle).toBe('failed');
    expect(failed.detail).toBe(
      `the rollout made no progress for 600 s: cannot pull ${MISSING_IMAGE}: not found`,
    );
  });

  test('has failed at once when the orchestrator refuses it, and is ready once it does not', async () => {
    const control = await given();
    control.orchestrator.foreign.add('web/cart');
    await control.apply();
    const failed = await control.until(({ lifecycle }) => lifecycle === 'failed');
    expect(failed.detail).toBe("web/cart exists, and is not the platform's");
    control.orchestrator.foreign.clear();
    expect(await control.until(isReady)).not.toHaveProperty('detail');
  });
});

describe('hard case 13', () => {
  test('an apply while paused, suspended, or both starts nothing, and enabling starts what was not paused', async () => {
    const control = await givenReady();
    const shop = { project: 'web', service: 'shop' };
    await control.apply({}, shop);
    await control.until(isReady, shop);
    accepted(await control.call(service, 'web/cart').pause({ by: ann }));
    await control.apply();
    expect((await control.status()).lifecycle).toBe('paused');
    accepted(await control.call(organization, 'shop').disable({ by: administrator }));
    // The status does not wait for the consumer that enters it in the history.
    expect((await control.status(shop, true)).lifecycle).toBe('suspended');
    for (const key of [KEY, shop]) {
      // oxlint-disable-next-line no-await-in-loop -- one service after the other
      await control.until(({ suspended }) => suspended, key);
      // oxlint-disable-next-line no-await-in-loop -- one service after the other
      await control.apply({ image: OTHER_IMAGE }, key);
      // oxlint-disable-next-line no-await-in-loop -- one service after the other
      expect(await control.status(key)).toMatchObject({
        lifecycle: 'suspended',
        desiredInstances: 0,
        detail: 'the organization is disabled',
      });
    }
    await control.clock.until(() => control.orchestrator.instancesOf(shop).length === 0);
    accepted(await control.call(organization, 'shop').enable({ by: administrator }));
    await control.until(isReady, shop);
    expect(await control.status()).toMatchObject({
      lifecycle: 'paused',
      paused: true,
      generation: 3,
    });
    expect(control.orchestrator.instancesOf(KEY)).toEqual([]);
    expect(control.orchestrator.instancesOf(shop).map(({ image }) => image)).toEqual([
      OTHER_IMAGE,
      OTHER_IMAGE,
    ]);
    expect(await kinds(control)).toEqual([
      'applied',
      'paused',
      'applied',
      'suspended',
      'applied',
      'reinstated',
    ]);
    const events = await control.call(service, 'web/cart').events();
    expect(
      events.flatMap(({ event: { type, by } }) => (by?.administrative === true ? [type] : [])),
    ).toEqual(['suspended', 'reinstated']);
  });
});

describe('hard case 16', () => {
  test('the status right after an apply is never ready by the former generation', async () => {
    const control = await givenReady();
    for (let generation = 2; generation <= 20; generation++) {
      // oxlint-disable-next-line no-await-in-loop -- one apply after the other
      expect(await control.apply()).toBe(generation);
      // oxlint-disable-next-line no-await-in-loop -- one apply after the other
      for (const status of [await control.lastStatus(), await control.status()])
        expect(status).toMatchObject({ generation, lifecycle: 'deploying' });
      // oxlint-disable-next-line no-await-in-loop -- one apply after the other
      if (generation % 3 === 0) await control.until(isReady);
    }
  });

  test('a status that was asked for before the apply does not make the next one ready', async () => {
    const control = await givenReady();
    const before = control.status();
    await control.apply();
    const [, after] = await Promise.all([before, control.status()]);
    expect(after).toMatchObject({ generation: 2, lifecycle: 'deploying', confirmed: false });
  });

  test('an orchestrator that claims a later generation makes nothing ready', async () => {
    const control = await givenReady();
    const observation = await control.orchestrator.observe(KEY);
    control.orchestrator.faults.set('observe', { answers: { ...observation, generation: 7 } });
    expect(await control.status()).toMatchObject({ lifecycle: 'deploying', confirmed: false });
  });
});

describe.each(['fails', 'throws', 'hangs'] as const)(
  'hard case 17: the orchestrator is down and %s',
  (fault) => {
    test('statuses restate what was last known, and applies are made once it is back', async () => {
      const control = await givenReady();
      const { confirmed: _, ...known } = await control.status();
      control.orchestrator.failAll(fault);
      expect(await control.status()).toEqual({
        ...known,
        confirmed: false,
        detail: 'the orchestrator does not answer, so this is what was last known',
      });
      expect(await control.apply({ image: OTHER_IMAGE })).toBe(2);
      expect(await control.status()).toMatchObject({
        generation: 2,
        lifecycle: 'deploying',
        readyInstances: 2,
        confirmed: false,
      });
      await control.clock.advance(900_000);
      control.orchestrator.failAll(undefined);
      // The longest pause, and a call that began before.
      await control.clock.advance(90_000);
      expect(await control.status()).toMatchObject({
        generation: 2,
        confirmed: true,
      });
      expect(await kinds(control)).toEqual(['applied', 'applied']);
      expect(control.log.length).toBeGreaterThan(0);
      expect(control.log.length).toBeLessThan(100);
    });

    test('a new service is pending, and says why', async () => {
      const control = await given();
      control.orchestrator.failAll(fault);
      await control.apply();
      expect(await control.status()).toMatchObject({
        lifecycle: 'pending',
        confirmed: false,
        detail: 'the orchestrator does not answer, and nothing is known of the service',
      });
    });
  },
);

describe('hard case 17: the orchestrator is down when the control plane starts', () => {
  test('the status after a restart of the control plane is what was known before', async () => {
    const dataFolder = temporaryFolder();
    const earlier = await givenReady({ dataFolder });
    await earlier.clock.until(async () => (await recorded(earlier)) !== undefined);
    await earlier.stop();
    earlier.orchestrator.failAll('hangs');
    const control = await OrchestratedControlPlane.start({ dataFolder, earlier });
    expect(await control.status()).toMatchObject({
      lifecycle: 'ready',
      readyInstances: 2,
      database: 'provisioned',
      confirmed: false,
      detail: 'the orchestrator does not answer, so this is what was last known',
    });
    await control.clock.until(async () => isReady(await control.lastStatus()));
    control.orchestrator.failAll(undefined);
    await control.until(({ confirmed }) => confirmed);
  });
});
