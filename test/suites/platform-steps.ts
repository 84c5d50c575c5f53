// PlatformSteps: steps in the life of the service `cart` of the project `shop`. People see the same in each, whatever runs the services of the
// installation.
import { expect } from 'vitest';
import type { Ended } from '../support/host-process.ts';

const WAIT = { timeout: 60_000, interval: 100 };

export interface Person {
  /** Runs a command to its end, whatever its exit code. */
  run(line: string): Promise<Ended>;
  /** Runs a command that has to succeed. Resolves with its output. */
  svc(line: string): Promise<string>;
}

/** The cart as an installation runs it. */
export interface Cart {
  /** The command that deploys the cart as it is described at the time. */
  readonly deploy: string;
  /** URL of the cart while it is exposed. */
  readonly url: string;
  /** Resolves once requests from outside are answered in this way. */
  readonly until: (answer: 'serves' | 'is paused' | 'is suspended' | 'is unknown') => Promise<void>;
}

/** Returns the fields that a command shows of a status. */
export function fieldsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text
      .trimEnd()
      .split('\n')
      .map((line) => /^(\S+) +(.*)$/.exec(line)!.slice(1, 3) as [string, string]),
  );
}

/** Returns the fields of a cart that is ready, and is not exposed. */
function readyCart(generation: number): Readonly<Record<string, unknown>> {
  return {
    name: 'cart',
    project: 'shop',
    state: 'ready',
    instances: '1 of 1 ready',
    generation: String(generation),
    image: expect.any(String) as string,
    hosting: 'wasm, 0.2.0',
    database: 'provisioned',
  };
}

/** Waits until `svc service get cart` shows these fields: a busy orchestrator is not asked in time for each answer. */
async function cartIsShown(ann: Person, fields: Readonly<Record<string, unknown>>): Promise<void> {
  await expect.poll(async () => fieldsOf(await ann.svc('service get cart')), WAIT).toEqual(fields);
}

export async function projectIsCreated(ann: Person): Promise<void> {
  expect(await ann.svc('whoami')).toContain('ann');
  expect(await ann.svc('org create acme')).toContain('Created the organization acme.');
  expect(await ann.svc('project create shop --organization acme')).toContain('shop');
  expect(await ann.svc('service list')).toMatch(/^The project shop has no services\. /m);
}

export async function cartIsDeployed(ann: Person, { deploy, url, until }: Cart): Promise<void> {
  const deployed = await ann.svc(deploy);
  expect(deployed).toMatch(/^Applied cart in the project shop: generation 1\.$/m);
  expect(deployed).toMatch(/cart is ready\.\n$/);
  await cartIsShown(ann, readyCart(1));
  await until('is unknown');
  expect(fieldsOf(await ann.svc('service expose cart'))).toMatchObject({ url });
  await until('serves');
  await cartIsShown(ann, { ...readyCart(1), url });
  expect(await ann.svc('service list')).toMatch(
    new RegExp(`^cart +ready +1/1 +1 +${RegExp.escape(url)} +\\S+$`, 'm'),
  );
}

/** `generation`: that of this deployment. */
export async function cartIsDeployedAgain(
  ann: Person,
  { deploy, url }: Cart,
  generation: number,
): Promise<void> {
  const deployed = await ann.svc(deploy);
  expect(deployed).toContain(`Applied cart in the project shop: generation ${generation}.\n`);
  expect(deployed.endsWith(`cart is ready: ${url}\n`)).toBe(true);
  await cartIsShown(ann, { ...readyCart(generation), url });
}

/** `generation`: the present one. */
export async function cartIsPausedAndResumed(
  ann: Person,
  { until, url }: Cart,
  generation: number,
): Promise<void> {
  const exposed = { ...readyCart(generation), url };
  expect(fieldsOf(await ann.svc('service pause cart'))['state']).toMatch(/^paused\b/);
  await until('is paused');
  await cartIsShown(ann, { ...exposed, state: 'paused', instances: '0 of 0 ready' });
  const again = await ann.run('service restart cart');
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain('paused');
  expect((await ann.run('service logs cart')).code).toBe(1);
  await ann.svc('service resume cart');
  await until('serves');
  await cartIsShown(ann, exposed);
}

/**
 * A second person sees nothing, is invited, works, and sees nothing again. `generation`: the present one, which is increased by one.
 */
export async function cartIsShared(ann: Person, bob: Person, generation: number): Promise<void> {
  const stranger = await bob.run('service get cart');
  const nothing = await bob.run('service get no-service --project no-project');
  expect([stranger.code, nothing.code]).toEqual([1, 1]);
  expect(stranger.stderr.replaceAll(/cart|shop/g, '_')).toBe(
    nothing.stderr.replaceAll(/no-service|no-project/g, '_'),
  );
  expect(await ann.svc('org invite acme bob@example.com')).toContain('bob@example.com');
  expect(await bob.svc('project list')).toMatch(/^shop /m);
  expect(await bob.svc('service logs cart --tail 5')).not.toBe('');
  const next = generation + 1;
  expect(fieldsOf(await bob.svc('service restart cart'))['generation']).toBe(String(next));
  expect(await ann.svc('service history cart')).toMatch(new RegExp(`restarted +${next} +bob`));
  expect((await bob.run('org invite acme cyd@example.com')).stderr).toMatch(/owner/);
  await ann.svc('org remove acme bob');
  expect(await bob.run('service get cart')).toEqual(stranger);
  expect(await bob.svc('project list')).not.toContain('shop');
}

/** Disabled by an administrator, who is no member, the cart is suspended, and its members change nothing. `generation`: the present one. */
export async function cartIsSuspended(
  administrator: Pick<Person, 'svc'>,
  ann: Person,
  { until, url }: Cart,
  generation: number,
): Promise<void> {
  await administrator.svc('org disable acme');
  await until('is suspended');
  await cartIsShown(ann, {
    ...readyCart(generation),
    url,
    state: 'suspended',
    detail: 'the organization is disabled',
    instances: '0 of 0 ready',
  });
  expect(await ann.run('service pause cart')).toMatchObject({ code: 1 });
  await administrator.svc('org enable acme');
  await until('serves');
}

/** `generation`: the one before the deletion. */
export async function cartIsDeletedAndBack(
  ann: Person,
  { deploy, until }: Cart,
  generation: number,
): Promise<void> {
  expect((await ann.run('service delete cart')).code).toBe(2);
  expect(await ann.svc('service delete cart --yes')).toBe(
    'Deleted the service cart of the project shop. Its database is kept.\n',
  );
  const none = await ann.run('service get cart');
  expect([none.code, none.stderr.replaceAll('cart', '_')]).toEqual([
    1,
    (await ann.run('service get never')).stderr.replaceAll('never', '_'),
  ]);
  await until('is unknown');
  const deployed = await ann.svc(deploy);
  expect(deployed).toContain(`generation ${generation + 1}.\n`);
  expect(deployed).toMatch(/cart is ready\.\n$/);
  await cartIsShown(ann, readyCart(generation + 1));
  await ann.svc('service expose cart');
  await until('serves');
}
