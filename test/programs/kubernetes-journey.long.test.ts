// The journey of services in a cluster, with real commands of people and a real control plane, on a real API server and a scripted node. The steps of
// platform-steps.ts are those of one machine, and the module runs in a real runtime, which is asked as the gateway asks it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ServiceDescriptor, ServiceStatus } from '../../client/index.ts';
import { IMAGES } from '../control-plane/kubernetes/scripted-programs.ts';
import { CartVersions } from '../support/cart-versions.ts';
import { compileFixture, compileSources } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { ClusterPlatform } from '../support/kubernetes/cluster-platform.ts';
import { printedMissingKubernetes } from '../support/kubernetes/kubernetes-programs.ts';
import { missingSandbox } from '../support/kubernetes/pod-sandbox.ts';
import type { MachinePerson } from '../support/machine-person.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import {
  type Cart,
  cartIsDeletedAndBack,
  cartIsDeployed,
  cartIsDeployedAgain,
  cartIsPausedAndResumed,
  cartIsShared,
  cartIsSuspended,
  fieldsOf,
  projectIsCreated,
} from '../suites/platform-steps.ts';

const noKubernetes = printedMissingKubernetes('kubernetes-journey.long.test.ts');
const noSandbox = missingSandbox();
if (noSandbox !== undefined)
  console.log(`No module runs in the journey in a cluster: ${noSandbox}`);

/** Time for a test on a busy machine, in milliseconds. */
const TEST_MS = 480_000;
const WAIT = { timeout: 120_000, interval: 50 };
const CART = 'registry.example/shop/cart';
const BACK_OFF = `ImagePullBackOff: Back-off pulling image "${IMAGES.missing}"`;

function cartDescriptor(version: string): ServiceDescriptor {
  return { name: 'cart', image: `${CART}:${version}`, hosting: 'wasm', protocol: '0.2.0' };
}

describe.skipIf(noKubernetes !== undefined)('people use services in a cluster', () => {
  const folder = temporaryFolderOfFile();
  let platform: ClusterPlatform;
  let ann: MachinePerson;
  let bob: MachinePerson;

  beforeAll(async () => {
    platform = await ClusterPlatform.start(folder);
    [ann, bob] = await Promise.all([platform.loggedIn('ann'), platform.loggedIn('bob')]);
    await projectIsCreated(ann);
  });
  afterAll(() => platform?.stop());

  /** Writes a descriptor, and returns the command that deploys it. */
  function deploying(descriptor: ServiceDescriptor): string {
    const file = `${descriptor.name}.yaml`;
    // JSON is YAML.
    writeFileSync(join(ann.cwd, file), JSON.stringify(descriptor));
    return `deploy -f ${file}`;
  }

  const statusOf = async (service: string) =>
    JSON.parse(await ann.svc(`service get ${service} -o json`)) as ServiceStatus;
  const until = (service: string, expected: Partial<ServiceStatus>) =>
    vi.waitFor(async () => expect(await statusOf(service)).toMatchObject(expected), WAIT);
  const uidsOf = async (service: string) =>
    (await platform.pods(service)).map(({ metadata }) => metadata.uid!).toSorted();
  const objectOf = (path: string) => platform.client.get(path);

  /** Starts a deployment that the test watches, and ends. */
  function deployInBackground(descriptor: ServiceDescriptor): SvcProcess {
    return new SvcProcess(deploying(descriptor).split(' '), { cwd: ann.cwd, env: ann.env });
  }

  const cart: Cart = {
    deploy: 'deploy -f cart.yaml',
    url: 'https://cart-shop.svc.localhost:8443',
    async until(answer) {
      const ingress = '/apis/networking.k8s.io/v1/namespaces/svc-shop/ingresses/cart';
      if (answer === 'serves')
        await vi.waitFor(
          async () =>
            expect(await platform.send('cart', '/carts/1')).toMatchObject({ status: 200 }),
          WAIT,
        );
      else if (answer !== 'is unknown')
        await vi.waitFor(async () => expect(await platform.pods('cart')).toEqual([]), WAIT);
      await vi.waitFor(
        async () => expect((await objectOf(ingress)) === undefined).toBe(answer === 'is unknown'),
        WAIT,
      );
    },
  };

  const describeCart = (version: string) => deploying(cartDescriptor(version));

  test.skipIf(noSandbox !== undefined)(
    'a module lives in a cluster as it does on one machine',
    async () => {
      platform.runtimes.publish(`${CART}:1`, await compileFixture('shopping-cart'));
      const versions = new CartVersions(platform.newFolder());
      versions.countItems();
      platform.runtimes.publish(
        `${CART}:2`,
        await compileSources('shopping-cart', versions.sources()),
      );

      describeCart('1');
      await cartIsDeployed(ann, cart);
      expect(await platform.send('cart', '/carts/1')).toEqual({
        status: 200,
        body: '{"id":"1","items":[],"checkedOut":false}',
      });
      const items = '"items":[{"sku":"tea","quantity":2}]';
      const added = await platform.send('cart', '/carts/1/items', { sku: 'tea', quantity: 2 });
      expect(added?.body).toContain(items);

      describeCart('2');
      await cartIsDeployedAgain(ann, cart, 2);
      const second = { status: 200, body: `{"id":"1",${items},"count":1,"checkedOut":false}` };
      expect(await platform.send('cart', '/carts/1')).toEqual(second);

      // An image that cannot be pulled: the volume is free for its pod, so nothing serves until it is corrected.
      const stuck = deployInBackground(cartDescriptor('3'));
      await stuck.logged(
        /cart generation 3: deploying, 0 of 1 ready: ImagePullBackOff: Back-off pulling image "registry\.example\/shop\/cart:3"\n/,
      );
      await stuck.end('SIGTERM');
      describeCart('2');
      await cartIsDeployedAgain(ann, cart, 4);
      expect(await platform.send('cart', '/carts/1')).toEqual(second);

      await cartIsPausedAndResumed(ann, cart, 4);
      await cartIsShared(ann, bob, 4);
      await cartIsSuspended({ svc: (line) => platform.administrator(line) }, ann, cart, 5);
      await cartIsDeletedAndBack(ann, cart, 5);
      expect(await platform.send('cart', '/carts/1')).toEqual(second);
    },
    TEST_MS,
  );

  test(
    'three instances with a database roll, wait for an image, keep their output, are scaled, paused, and deleted',
    async () => {
      const store: ServiceDescriptor = {
        name: 'store',
        image: IMAGES.good,
        hosting: 'process',
        protocol: 'svc/1',
        instances: 3,
        database: { urlFrom: 'store-url' },
      };
      expect(await ann.svc(`${deploying(store)} --detach`)).toBe(
        'Applied store in the project shop: generation 1.\n',
      );
      // The operator adds the URL once the project has its namespace.
      await vi.waitFor(
        () =>
          platform.server.create('/api/v1/namespaces/svc-shop/secrets', {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: 'store-url' },
            stringData: { url: 'postgresql://store@database.example/store' },
          }),
        WAIT,
      );
      await until('store', { lifecycle: 'ready' });
      const first = fieldsOf(await ann.svc('service get store'));
      expect(first).toEqual({
        name: 'store',
        project: 'shop',
        state: 'ready',
        instances: '3 of 3 ready',
        generation: '1',
        image: IMAGES.good,
        hosting: 'process, svc/1',
        database: 'supplied',
      });

      // Output of all instances, of one, and of one before it crashed.
      const pods = await platform.pods('store');
      const names = pods.map(({ metadata }) => metadata.name).toSorted();
      const logs = await ann.svc('service logs store');
      for (const name of names) expect(logs).toContain(`${name} `);
      const [one] = names;
      expect(await ann.svc(`service logs store --instance ${one} --tail 1`)).toBe(
        'run 0 listens\n',
      );
      const never = await ann.svc(`service logs store --instance ${one} --previous`);
      expect(never).toContain('not found');
      platform.programs.crash(pods.find(({ metadata }) => metadata.name === one)!.metadata.uid!);
      const restarted = { name: 'service', restartCount: 1, ready: true };
      await vi.waitFor(
        async () =>
          expect(await objectOf(`/api/v1/namespaces/svc-shop/pods/${one}`)).toHaveProperty(
            'status.containerStatuses',
            expect.arrayContaining([expect.objectContaining(restarted)]),
          ),
        WAIT,
      );
      expect(await ann.svc(`service logs store --instance ${one}`)).toBe(
        'starting\nrun 1 listens\n',
      );
      expect(await ann.svc(`service logs store --instance ${one} --previous`)).toBe(
        'starting\nrun 0 listens\n',
      );
      const stranger = await ann.run('service logs store --instance cart-0');
      expect(stranger).toMatchObject({ code: 1, stdout: '' });

      // Instances that are no longer ready, and are again.
      platform.programs.setReady(IMAGES.good, false);
      await until('store', { lifecycle: 'unavailable', readyInstances: 0, generation: 1 });
      platform.programs.setReady(IMAGES.good, true);
      await until('store', { lifecycle: 'ready', readyInstances: 3 });

      // A new version is never ready while only instances of the former one are.
      platform.programs.setReady(IMAGES.other, false);
      const former = await uidsOf('store');
      const rolling = deployInBackground({ ...store, image: IMAGES.other });
      await rolling.logged(/generation 2: deploying, 3 of 3 ready/);
      await vi.waitFor(async () => expect(await uidsOf('store')).toHaveLength(4), WAIT);
      expect(await statusOf('store')).toMatchObject({
        lifecycle: 'deploying',
        generation: 2,
        readyInstances: 3,
      });
      expect(rolling.stderr).not.toContain('is ready');
      platform.programs.setReady(IMAGES.other, true);
      expect(await rolling.ended).toMatchObject({ code: 0 });
      const present = await uidsOf('store');
      expect(present.filter((uid) => former.includes(uid))).toEqual([]);

      // An image that cannot be pulled.
      const waiting = deployInBackground({ ...store, image: IMAGES.missing });
      await waiting.logged(/store generation 3: deploying, 3 of 3 ready: ImagePullBackOff: /);
      await waiting.end('SIGTERM');
      expect(fieldsOf(await ann.svc('service get store'))).toEqual({
        ...first,
        state: 'deploying',
        detail: BACK_OFF,
        generation: '3',
        image: IMAGES.missing,
      });
      expect(await uidsOf('store')).toEqual(expect.arrayContaining(present));

      // Corrected and scaled.
      expect(await ann.svc(deploying({ ...store, instances: 5 }))).toMatch(/store is ready\.\n$/);
      expect(await statusOf('store')).toMatchObject({ readyInstances: 5, desiredInstances: 5 });
      expect(await ann.svc(deploying({ ...store, instances: 2 }))).toMatch(/store is ready\.\n$/);
      expect(await uidsOf('store')).toHaveLength(2);

      // Paused, and applied meanwhile.
      await ann.svc('service pause store');
      expect(await ann.svc(deploying(store))).toMatch(
        /store is paused, so nothing runs\. Start it with svc service resume store\.\n$/,
      );
      await vi.waitFor(async () => expect(await platform.pods('store')).toEqual([]), WAIT);
      await ann.svc('service resume store');
      await until('store', { lifecycle: 'ready', generation: 6, readyInstances: 3 });

      // Deleted, and applied at once.
      await ann.svc('service delete store --yes');
      expect(await ann.svc(deploying(store))).toMatch(/store is ready\.\n$/);
      expect(await statusOf('store')).toMatchObject({ generation: 7, readyInstances: 3 });
      expect(await ann.svc('service delete store --yes')).toContain('Its database is kept.');
      await vi.waitFor(async () => expect(await platform.pods('store')).toEqual([]), WAIT);
      expect(await objectOf('/api/v1/namespaces/svc-shop/services/store')).toBeUndefined();
    },
    TEST_MS,
  );

  test(
    'a web service is told what it waits for, and a rollout goes on while the control plane is replaced',
    async () => {
      const site: ServiceDescriptor = {
        name: 'site',
        image: IMAGES.good,
        hosting: 'process',
        protocol: 'http/1.1',
        instances: 2,
      };
      platform.programs.setReady(IMAGES.good, false);
      const begun = deployInBackground(site);
      await begun.logged(/deploying, 0 of 2 ready: the process is not listening on port 8080\n/);
      platform.programs.setReady(IMAGES.good, true);
      expect((await begun.ended).stderr).toMatch(/site is ready\.\n$/);
      expect(fieldsOf(await ann.svc('service get site'))).toEqual({
        name: 'site',
        project: 'shop',
        state: 'ready',
        instances: '2 of 2 ready',
        generation: '1',
        image: IMAGES.good,
        hosting: 'process, http/1.1',
      });

      platform.programs.setReady(IMAGES.other, false);
      const rolling = deployInBackground({ ...site, image: IMAGES.other });
      await rolling.logged(/generation 2: deploying, 2 of 2 ready: the process is not listening/);
      const before = await uidsOf('site');
      expect(before).toHaveLength(3);
      expect(await platform.stopControlPlane()).toMatchObject({ code: 0 });
      await rolling.logged(/The deployment continues; asking again\.\n/);
      await platform.startControlPlane();
      await until('site', { lifecycle: 'deploying', generation: 2, confirmed: true });
      expect(await uidsOf('site')).toEqual(before);
      platform.programs.setReady(IMAGES.other, true);
      expect(await rolling.ended).toMatchObject({ code: 0 });
      expect(rolling.stderr).toMatch(/site is ready\.\n$/);
      expect(await statusOf('site')).toMatchObject({ lifecycle: 'ready', readyInstances: 2 });
      expect(await ann.svc('service list')).toMatch(/^site +ready +2\/2 +2 +\S+$/m);
    },
    TEST_MS,
  );
});
