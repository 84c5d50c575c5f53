// ExpectSettled: whether names are claimed by what exists, and by nothing else. It needs no test runner, since programs call it.
import assert from 'node:assert';
import type { Result } from '@svc/host';
import type { Call } from '../../control-plane/flows/call.ts';
import type { HeldClaim } from '../../control-plane/model/claims.ts';
import { hostname } from '../../control-plane/model/hostname.ts';
import { organization } from '../../control-plane/model/organization.ts';
import { project } from '../../control-plane/model/project.ts';
import { service } from '../../control-plane/model/service.ts';

/**
 * Fails unless a name is claimed if and only if its child exists: projects in their organization, services in their project,
 * and hostnames by the service that holds them.
 */
export async function expectSettled(
  call: Call,
  ids: {
    readonly organizations: readonly string[];
    readonly projects: readonly string[];
    /** `<project>/<name>`. */
    readonly services: readonly string[];
    readonly hostnames: readonly string[];
  },
): Promise<void> {
  const parentOf = new Map<string, string>();
  for (const id of ids.organizations) {
    const claims = accepted(await call(organization, id).projectClaims());
    assert(isConfirmed(claims), `claims of ${id} are confirmed`);
    for (const child of accepted(await call(organization, id).projectIds())) {
      assert.equal(parentOf.get(child), undefined, `organization of ${child}`);
      parentOf.set(child, id);
    }
  }
  const named = new Set<string>();
  for (const id of ids.projects) {
    const summary = await call(project, id).summary();
    const parent = summary.isOk ? summary.value.organization : undefined;
    assert.equal(parentOf.get(id), parent, `organization of ${id}`);
    const claims = accepted(await call(project, id).serviceClaims());
    assert(isConfirmed(claims), `claims of ${id} are confirmed`);
    const names = accepted(await call(project, id).serviceNames());
    for (const name of names) named.add(`${id}/${name}`);
    const services = summary.isOk ? summary.value.services : 0;
    assert.equal(names.length, services, `services of ${id}`);
  }
  const holders = new Map<string, string>();
  for (const id of ids.services) {
    const state = accepted(await call(service, id).desired());
    assert.equal(named.has(id), state.isAlive, `the name of ${id} is claimed`);
    const held = Object.keys(state.hostnames);
    if (state.exposed !== undefined) held.push(state.exposed.hostname);
    for (const name of held) {
      assert.equal(holders.get(name), undefined, `holder of ${name}`);
      holders.set(name, id);
    }
  }
  for (const name of ids.hostnames)
    assert.equal(
      accepted(await call(hostname, name).holder()),
      holders.get(name) ?? '',
      `holder of ${name}`,
    );
}

/** Nothing waits to be settled. */
function isConfirmed(claims: readonly HeldClaim[]): boolean {
  return claims.every((claim) => claim.isConfirmed);
}

function accepted<Value>(result: Result<Value>): Value {
  assert(result.isOk);
  return result.value;
}
