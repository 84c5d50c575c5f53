// ControlPlaneUnderTest: the entities and consumers of the control plane in a service of their own, and the people who use it.
import { onTestFinished } from 'vitest';
import { createService, type Result, type Service } from '@svc/host';
import { SvcError } from '@svc/kit/svc-error';
import { settleClaims } from '../../control-plane/consumers/settle-claims.ts';
import { suspendServices } from '../../control-plane/consumers/suspend-services.ts';
import type { Call } from '../../control-plane/flows/call.ts';
import { createOrganization } from '../../control-plane/flows/create-organization.ts';
import { createProject } from '../../control-plane/flows/create-project.ts';
import type { Actor } from '../../control-plane/model/actor.ts';
import { email } from '../../control-plane/model/email.ts';
import { hostname } from '../../control-plane/model/hostname.ts';
import { organization } from '../../control-plane/model/organization.ts';
import type { Person } from '../../control-plane/model/organization-state.ts';
import { person } from '../../control-plane/model/person.ts';
import { project } from '../../control-plane/model/project.ts';
import { service } from '../../control-plane/model/service.ts';
import type { Descriptor } from '../../control-plane/model/service-state.ts';

export const SOON = { timeout: 20_000 };

export interface ControlPlaneUnderTest {
  readonly service: Service;
  readonly call: Call;
}

interface TestOptions {
  /** Where the journal is. Absent: in memory. */
  readonly dataFolder?: string;
  /** True: the state of an entity is not compared after every call, which takes a millisecond for one of a thousand names. */
  readonly hasLargeStates?: boolean;
}

export async function startControlPlane({
  dataFolder,
  hasLargeStates = false,
}: TestOptions = {}): Promise<ControlPlaneUnderTest> {
  const running = await createService({
    name: 'control-plane',
    entities: [organization, project, service, hostname, email, person],
    consumers: [settleClaims, suspendServices],
    http: false,
    log: 'none',
    deployed: hasLargeStates,
    ...(dataFolder === undefined ? { journal: 'memory' as const } : { dataFolder }),
  });
  onTestFinished(() => running.stop());
  return { service: running, call: (entity, id) => running.call(entity, id) };
}

export function actor(subject: string): Actor {
  return { subject, display: subject, administrative: false };
}

export class Cut extends Error {}

/** What commands fail with while the disk is full, which is answered 503. */
export const DISK_FULL = new SvcError('SVC_DISK_FULL', 'the disk is full');

/** Calls entities `count` times, and then fails before each further call. */
export function cutAfter(call: Call, count: number, failure: Error = new Cut('cut')): Call {
  let left = count;
  const cut = (...[entity, id]: Parameters<Call>) =>
    new Proxy(call(entity, id), {
      get: (client, name) => {
        const method = client[name as keyof typeof client] as unknown;
        if (typeof method !== 'function') return method;
        return (...input: unknown[]) => {
          if (left-- <= 0) throw failure;
          return Reflect.apply(method, client, input) as unknown;
        };
      },
    });
  return cut as Call;
}

export const administrator: Actor = { subject: 'root', display: 'root', administrative: true };

export function personOf(subject: string, address = `${subject}@example.com`): Person {
  return { subject, email: address, emailKey: address, display: subject };
}

export function descriptor(name: string, more: Partial<Descriptor> = {}): Descriptor {
  return { name, image: 'registry.example/it:1', ...more };
}

/** Creates an organization, owned by `ann`. */
export async function givenOrganization(call: Call, id: string): Promise<void> {
  accepted(await createOrganization(call, id, { name: id, owner: personOf('ann') }, actor('ann')));
}

/** Creates an organization, owned by `ann`, with a project. */
export async function givenProject(call: Call, organizationId: string, id: string): Promise<void> {
  await givenOrganization(call, organizationId);
  accepted(await createProject(call, id, { organizationId, name: id }, actor('ann')));
}

/** Returns the value, and fails if there is a refusal in its place. */
export function accepted<Value>(result: Result<Value>): Value {
  if (!result.isOk) throw new Error(`refused with ${result.code}: ${result.message}`);
  return result.value;
}

/** Returns the code of the refusal, or `ok`. */
export function outcomeOf(result: Result<unknown>): string {
  if (result.isOk) return 'ok';
  return result.otherCode ?? result.code;
}

export function outcomesOf(results: readonly Result<unknown>[]): string[] {
  return results.map(outcomeOf).toSorted();
}

/** Returns the kinds of the history of a service, oldest first. */
export async function historyOf({ service: running }: ControlPlaneUnderTest, id: string) {
  const records = await running.readEvents(service, id);
  return records.map(({ event }) => event);
}
