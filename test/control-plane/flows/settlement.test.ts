// Flows that are cut off after each of their calls, as by a crash: what they leave half done is settled within 30 s.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { createProject } from '../../../control-plane/flows/create-project.ts';
import { deleteProject } from '../../../control-plane/flows/delete-project.ts';
import { deleteService } from '../../../control-plane/flows/delete-service.ts';
import { exposeService, unexposeService } from '../../../control-plane/flows/expose-service.ts';
import { SETTLE_AFTER_MS, PENDING_CLAIMS_MAX } from '../../../control-plane/model/claims.ts';
import { hostname } from '../../../control-plane/model/hostname.ts';
import { project } from '../../../control-plane/model/project.ts';
import { service } from '../../../control-plane/model/service.ts';
import {
  Cut,
  DISK_FULL,
  SOON,
  accepted,
  actor,
  cutAfter,
  descriptor,
  givenOrganization,
  givenProject,
  outcomeOf,
  startControlPlane,
} from '../control-plane-under-test.ts';
import { expectSettled } from '../expect-settled.ts';

const ann = actor('ann');

// The clock of the machine stands still until a test moves it. Pauses of the runtime are measured by another clock.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function passTime(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

interface CutFlow {
  readonly name: string;
  /** Done before the flow, and not cut. */
  readonly given: (call: Call, n: number) => Promise<void>;
  readonly flow: (call: Call, n: number) => Promise<unknown>;
  /** Number of calls of the whole flow. */
  readonly calls: number;
}

const key = (n: number) => ({ project: `p${n}`, service: 'cart' });
const custom = (n: number, letter: string) => `${letter}${n}.example.org`;
const apply = async (call: Call, n: number, ...letters: string[]) => {
  const hostnames = letters.map((letter) => custom(n, letter));
  return accepted(await applyService(call, key(n), descriptor('cart', { hostnames }), ann));
};
const expose = async (call: Call, n: number) =>
  accepted(await exposeService(call, key(n), custom(n, 'derived'), ann));
const givenParent = (call: Call, n: number) => givenProject(call, `o${n}`, `p${n}`);
async function givenService(call: Call, n: number): Promise<void> {
  await givenParent(call, n);
  await apply(call, n, 'a', 'b');
  await expose(call, n);
}

const FLOWS: readonly CutFlow[] = [
  {
    name: 'creating a project',
    given: (call, n) => givenOrganization(call, `o${n}`),
    flow: (call, n) => createProject(call, `p${n}`, { organizationId: `o${n}`, name: 'P' }, ann),
    calls: 4,
  },
  {
    name: 'deleting a project',
    given: givenParent,
    flow: (call, n) => deleteProject(call, `p${n}`, ann),
    calls: 2,
  },
  {
    name: 'creating a service',
    given: givenParent,
    flow: (call, n) => apply(call, n, 'a', 'b'),
    calls: 10,
  },
  {
    name: 'applying a service with other hostnames',
    given: givenService,
    flow: (call, n) => apply(call, n, 'b', 'c'),
    calls: 5,
  },
  {
    name: 'applying a service that serves no HTTP any more',
    given: givenService,
    flow: (call, n) => applyService(call, key(n), descriptor('cart', { http: false }), ann),
    calls: 4,
  },
  {
    name: 'exposing a service',
    given: async (call, n) => {
      await givenParent(call, n);
      await apply(call, n);
    },
    flow: expose,
    calls: 3,
  },
  {
    name: 'unexposing a service',
    given: givenService,
    flow: (call, n) => unexposeService(call, key(n), ann),
    calls: 2,
  },
  {
    name: 'deleting a service',
    given: givenService,
    flow: (call, n) => deleteService(call, key(n), ann),
    calls: 5,
  },
];

test.each(FLOWS)('$name is settled, wherever it was cut off', async ({ given, flow, calls }) => {
  const { call } = await startControlPlane();
  const cuts = Array.from({ length: calls + 1 }, (_, n) => n);
  const ended = await Promise.all(
    cuts.map(async (n) => {
      await given(call, n);
      return flow(cutAfter(call, n), n).then(
        () => 'whole',
        (error: unknown) => (error instanceof Cut ? 'cut' : error),
      );
    }),
  );
  expect(ended).toEqual([...Array<string>(calls).fill('cut'), 'whole']);
  const all = {
    organizations: cuts.map((n) => `o${n}`),
    projects: cuts.map((n) => `p${n}`),
    services: cuts.map((n) => `p${n}/cart`),
    hostnames: cuts.flatMap((n) => ['a', 'b', 'c', 'derived'].map((letter) => custom(n, letter))),
  };
  passTime(SETTLE_AFTER_MS);
  await expect.poll(() => expectSettled(call, all), SOON).toBeUndefined();
});

test.each(FLOWS)('$name fails only if it has changed nothing', async ({ given, flow, calls }) => {
  const { call, service: running } = await startControlPlane();
  const changes = async (n: number) => {
    const ofProject = await running.readEvents(project, `p${n}`);
    const ofService = await running.readEvents(service, `p${n}/cart`);
    const types = ofProject.map(({ event }) => event.type);
    return (
      ofService.length + types.filter((type) => type === 'created' || type === 'deleted').length
    );
  };
  const cuts = Array.from({ length: calls + 1 }, (_, n) => n);
  const ended = await Promise.all(
    cuts.map(async (n) => {
      await given(call, n);
      const before = await changes(n);
      const hasFailed = await flow(cutAfter(call, n, DISK_FULL), n).then(
        () => false,
        (error: unknown) => error === DISK_FULL,
      );
      return { hasFailed, hasChanged: (await changes(n)) > before };
    }),
  );
  expect(ended[0]).toEqual({ hasFailed: true, hasChanged: false });
  expect(ended.at(-2)).toEqual({ hasFailed: false, hasChanged: true });
  expect(ended.filter(({ hasFailed, hasChanged }) => hasFailed === hasChanged)).toEqual([]);
});

test('a name whose creation was cut off is free afterwards, and held until then', async () => {
  const { call } = await startControlPlane();
  await givenProject(call, 'shop', 'web');
  const web = call(project, 'web');
  const cart = { project: 'web', service: 'cart' };
  // Cut off before the service is created: one call finds no service, the next claims its name.
  await expect(applyService(cutAfter(call, 2), cart, descriptor('cart'), ann)).rejects.toThrow(Cut);
  expect(accepted(await web.serviceNames())).toEqual(['cart']);
  expect(outcomeOf(await deleteProject(call, 'web', ann))).toBe('UNSETTLED');
  passTime(SETTLE_AFTER_MS);
  await expect.poll(async () => accepted(await web.serviceNames()), SOON).toEqual([]);
  accepted(await deleteProject(call, 'web', ann));
});

test('a flow that is slower than its claim creates nothing', async () => {
  const { call } = await startControlPlane();
  await givenProject(call, 'shop', 'web');
  const claim = accepted(await call(project, 'web').claimService({ service: 'cart' }));
  const held = accepted(await call(hostname, 'a.example').claim({ service: 'web/cart' }));
  passTime(SETTLE_AFTER_MS);
  const application = { descriptor: descriptor('cart'), claim, by: ann };
  const cart = call(service, 'web/cart');
  expect(outcomeOf(await cart.apply({ ...application, hostnames: [] }))).toBe('CLAIM_OVER');
  const names = async () => accepted(await call(project, 'web').serviceNames());
  await expect.poll(names, SOON).toEqual([]);
  const holder = async () => accepted(await call(hostname, 'a.example').holder());
  await expect.poll(holder, SOON).toBe('');
  // The hostname belongs to another service by now, so the late request must not take it.
  accepted(
    await applyService(
      call,
      { project: 'web', service: 'other' },
      descriptor('other', { hostnames: ['a.example'] }),
      ann,
    ),
  );
  accepted(await applyService(call, { project: 'web', service: 'cart' }, descriptor('cart'), ann));
  const late = { hostname: 'a.example', claim: held, by: ann };
  expect(outcomeOf(await cart.expose(late))).toBe('CLAIM_OVER');
  expect(await holder()).toBe('web/other');
});

test('a name has a bounded number of unconfirmed claims, which end', async () => {
  const { call } = await startControlPlane();
  await givenProject(call, 'shop', 'web');
  const web = call(project, 'web');
  const claim = async () => outcomeOf(await web.claimService({ service: 'cart' }));
  for (let n = 0; n < PENDING_CLAIMS_MAX; n++) expect(await claim()).toBe('ok');
  expect(await claim()).toBe('TOO_MANY_REQUESTS');
  passTime(SETTLE_AFTER_MS);
  await expect.poll(claim, SOON).toBe('ok');
});
