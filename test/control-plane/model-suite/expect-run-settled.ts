// ExpectRunSettled: the names that the requests of a history may claim.
import type { Call } from '../../../control-plane/flows/call.ts';
import { expectSettled } from '../expect-settled.ts';
import { HOSTNAMES, ORGANIZATIONS, PROJECTS, SERVICES } from './requests.ts';

/** Fails unless every name of a history is claimed by what exists, and by nothing else. */
export async function expectRunSettled(call: Call, run: string): Promise<void> {
  const projects = PROJECTS.map((id) => id + run);
  const derived = projects.flatMap((id) => SERVICES.map((name) => `${name}-${id}.svc.test`));
  await expectSettled(call, {
    organizations: ORGANIZATIONS.map((id) => id + run),
    projects,
    services: projects.flatMap((id) => SERVICES.map((name) => `${id}/${name}`)),
    hostnames: [...new Set([...derived, ...HOSTNAMES.map((id) => `${id}${run}.example.org`)])],
  });
}
