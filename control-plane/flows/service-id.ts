// ServiceId: the id of a service's entity, `<project>/<name>`.
import type { ServiceKey } from '@svc/client';

export function serviceId({ project, service }: ServiceKey): string {
  return `${project}/${service}`;
}

/** Neither a project's id nor a service's name has a `/`. */
export function serviceKeyOf(id: string): ServiceKey {
  const slash = id.indexOf('/');
  return { project: id.slice(0, slash), service: id.slice(slash + 1) };
}
