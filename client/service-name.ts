// Names of services and projects, references to services, and their addresses within a cluster.

/** Maximum length of a service's name: the length of a label in DNS. */
export const SERVICE_NAME_LENGTH_MAX = 63;
/** Maximum length of a project's id, so that `svc-<project>` is a label in DNS. */
export const PROJECT_ID_LENGTH_MAX = 57;

/** Grammar of the name of a service and the id of a project, as a JSON Schema writes it. */
export const NAME_PATTERN = '^[a-z]([a-z0-9-]*[a-z0-9])?$';
const NAME = new RegExp(NAME_PATTERN);

/**
 * Grammar of a reference to a service, as a JSON Schema writes it: `<service>` in the own project or
 * `<service>.<project>`.
 */
export const SERVICE_REFERENCE_PATTERN = `^${nameOfAtMost(SERVICE_NAME_LENGTH_MAX)}(\\.${nameOfAtMost(PROJECT_ID_LENGTH_MAX)})?$`;
/** Maximum length of a reference. */
export const SERVICE_REFERENCE_LENGTH_MAX = SERVICE_NAME_LENGTH_MAX + 1 + PROJECT_ID_LENGTH_MAX;

const REFERENCE = new RegExp(SERVICE_REFERENCE_PATTERN);

export interface ServiceReference {
  readonly service: string;
  /** Undefined: the own project. */
  readonly project: string | undefined;
}

/** A service of an installation. */
export interface ServiceKey {
  readonly project: string;
  readonly service: string;
}

/** Returns whether a service may have the name: a label of DNS that begins with a letter, in lower case. */
export function isServiceName(text: string): boolean {
  return text.length <= SERVICE_NAME_LENGTH_MAX && NAME.test(text);
}

/** Returns whether a project may have the id. */
export function isProjectId(text: string): boolean {
  return text.length <= PROJECT_ID_LENGTH_MAX && NAME.test(text);
}

/** Returns whether the text has the grammar of a reference. */
export function isServiceReference(text: string): boolean {
  return text.length <= SERVICE_REFERENCE_LENGTH_MAX && REFERENCE.test(text);
}

/** Returns the grammar of NAME_PATTERN with a maximum length. */
function nameOfAtMost(length: number): string {
  return `[a-z]([a-z0-9-]{0,${length - 2}}[a-z0-9])?`;
}

/**
 * Parses `<service>` or `<service>.<project>`; returns undefined for any other text. The text is compared raw: nothing
 * is decoded, and upper case is refused.
 */
export function serviceReferenceOf(text: string): ServiceReference | undefined {
  if (!isServiceReference(text)) return undefined;
  const dot = text.indexOf('.');
  if (dot === -1) return { service: text, project: undefined };
  return { service: text.slice(0, dot), project: text.slice(dot + 1) };
}

/** Returns the namespace of a project in a cluster. */
export function projectNamespace(project: string): string {
  return `svc-${project}`;
}

/** Returns the name of a service within a cluster. */
export function clusterHost({ project, service }: ServiceKey): string {
  return `${service}.${projectNamespace(project)}.svc.cluster.local`;
}
