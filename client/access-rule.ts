// AccessRule: which callers may call an endpoint, a route or a web-hosted service. Services are named in one syntax
// everywhere: `<service>` in the own project, `<service>.<project>` in another.
import type { ServiceKey } from './service-name.ts';

/** Maximum number of services that one rule names. */
export const ADMITTED_SERVICES_MAX = 100;

/** Rule of an endpoint or a route. `services` without a list: every service of the project. */
export type AccessRule =
  | { readonly allow: 'internet' }
  | { readonly allow: 'services'; readonly services?: readonly string[] }
  | { readonly allow: 'local' }
  | { readonly allow: 'nobody' };

/**
 * Returns whether a list of services names the caller. Undefined: the list of a rule without names, which admits every
 * service of the own project. `ownProject`: the project of the called service; undefined on a developer's machine.
 */
export function namesService(
  services: readonly string[] | undefined,
  caller: ServiceKey,
  ownProject: string | undefined,
): boolean {
  const isOwnProject = caller.project === ownProject;
  if (services === undefined) return isOwnProject;
  return (
    (isOwnProject && services.includes(caller.service)) ||
    services.includes(`${caller.service}.${caller.project}`)
  );
}
