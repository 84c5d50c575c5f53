// DescriptorProblems: the validation of the descriptor of a web-hosted service. Client and server call the same function,
// so a client refuses an invalid descriptor before it sends it.
//
// Invariants: the function is pure, never throws for a value that JSON can express, and reports all problems at once.
// What a problem quotes of the value is escaped and short. Time and number of problems are linear in the size of the
// value, and lists beyond their limit are reported once and read no further.
import { ADMITTED_SERVICES_MAX } from './access-rule.ts';
import { HTTP_PORT, PROCESS_PORT, RESERVED_PORTS } from './ports.ts';
import { Problems, isRecord, quoted, type Problem } from './problem.ts';
import {
  PROJECT_ID_LENGTH_MAX,
  SERVICE_NAME_LENGTH_MAX,
  isProjectId,
  isServiceName,
  serviceReferenceOf,
} from './service-name.ts';
import { hostnameProblem } from './hostname.ts';
import { mountPathProblem } from './mount-path.ts';
import { PLATFORM_VARIABLES, VARIABLE_NAME } from './variable-names.ts';
import { WEB_PROTOCOL, type WebServiceDescriptor } from './web-service-descriptor.ts';

export const MOUNTS_MAX = 100;
export const HOSTNAMES_MAX = 100;
export const VARIABLES_MAX = 1000;
export const VARIABLE_NAME_LENGTH_MAX = 200;
export const VARIABLE_BYTES_MAX = 32 * 1024;
/** Names and values of all variables together, in bytes of UTF-8. */
export const VARIABLES_BYTES_MAX = 256 * 1024;
const IMAGE_LENGTH_MAX = 1000;
const RUNTIME = /^\d{1,9}\.\d{1,9}\.\d{1,9}(-[0-9A-Za-z.-]{1,100})?(\+[0-9A-Za-z.-]{1,100})?$/;

type Check = (value: unknown, problems: Problems) => void;

/** A check for each field. The compiler holds the names against the descriptor's type. */
const FIELDS: Readonly<Record<keyof WebServiceDescriptor, Check>> = {
  name: checkName,
  image: checkImage,
  hosting: (value, problems) => checkWord(value, 'process', problems.at('hosting')),
  protocol: (value, problems) => checkWord(value, WEB_PROTOCOL, problems.at('protocol')),
  runtime: checkRuntime,
  http: (value, problems) => {
    if (value !== true) problems.at('http').add('is not true: a web-hosted service serves HTTP');
  },
  port: (value, problems) => checkPort(value, problems.at('port')),
  processPort: (value, problems) => checkPort(value, problems.at('processPort')),
  mounts: checkMounts,
  callers: checkCallers,
  hostnames: checkHostnames,
  env: checkVariables,
};
const REQUIRED: readonly (keyof WebServiceDescriptor)[] = ['name', 'image', 'hosting', 'protocol'];

/**
 * Returns every problem of a descriptor of a web-hosted service, sorted by path. An empty list means that the value is
 * a `WebServiceDescriptor`.
 */
export function descriptorProblems(value: unknown): readonly Problem[] {
  const problems = new Problems();
  if (!isRecord(value)) {
    problems.add('is not an object');
    return problems.sorted();
  }
  for (const field of REQUIRED)
    if (value[field] === undefined) problems.at(field).add('is missing');
  let unknown = 0;
  for (const [field, content] of Object.entries(value)) {
    if (content === undefined) continue;
    if (Object.hasOwn(FIELDS, field))
      FIELDS[field as keyof WebServiceDescriptor](content, problems);
    else unknown += reportUnknown(field, problems, unknown);
  }
  checkCollision(value, problems);
  checkOwnMounts(value, problems);
  return problems.sorted();
}

const UNKNOWN_REPORTED_MAX = 20;

function reportUnknown(field: string, problems: Problems, reported: number): number {
  if (reported < UNKNOWN_REPORTED_MAX)
    problems.add(
      `has the unknown field ${quoted(field)}: the fields are ${Object.keys(FIELDS).join(', ')}`,
    );
  return 1;
}

function checkName(value: unknown, problems: Problems): void {
  const at = problems.at('name');
  if (typeof value !== 'string') at.add('is not a text');
  else if (!isServiceName(value)) at.add(nameReason(value));
}

function nameReason(name: string): string {
  return `is ${quoted(name)}, which is no name of a service: use at most ${SERVICE_NAME_LENGTH_MAX} lower-case letters, digits and hyphens, with a letter first and no hyphen last`;
}

function checkImage(value: unknown, problems: Problems): void {
  const at = problems.at('image');
  if (typeof value !== 'string' || value === '') at.add('is not the name of an image');
  else if (value.length > IMAGE_LENGTH_MAX) at.add(`is longer than ${IMAGE_LENGTH_MAX} characters`);
  else if (!/^[\x21-\x7e]+$/.test(value))
    at.add('has a blank or a character that no name of an image has');
}

function checkWord(value: unknown, word: string, problems: Problems): void {
  if (value !== word) problems.add(`is not "${word}", as it is for every web-hosted service`);
}

function checkRuntime(value: unknown, problems: Problems): void {
  if (typeof value !== 'string' || !RUNTIME.test(value))
    problems.at('runtime').add('is not a version such as 1.4.0');
}

function checkPort(value: unknown, problems: Problems): void {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > 65_535) {
    problems.add('is not a whole number from 1 to 65535');
    return;
  }
  const reserved = RESERVED_PORTS.find(({ port }) => port === value);
  if (reserved !== undefined)
    problems.add(`is ${value}, but it is the port of ${reserved.purpose}: choose another`);
}

/** Reports the two ports of a service if they are the same one, with their defaults. */
function checkCollision(value: Readonly<Record<string, unknown>>, problems: Problems): void {
  const { port = HTTP_PORT, processPort = PROCESS_PORT } = value;
  if (typeof port !== 'number' || port !== processPort) return;
  const field = value['processPort'] === undefined ? 'port' : 'processPort';
  const other =
    field === 'port'
      ? 'the default of processPort'
      : 'the port on which the service takes requests';
  problems.at(field).add(`is ${port}, which is also ${other}: choose another`);
}

/** Calls `check` for each item, and reports a list that is none, is too long, or has an item twice. */
function checkList(
  value: unknown,
  itemsMax: number,
  problems: Problems,
  check: (item: unknown, at: Problems) => string | undefined,
): void {
  if (!Array.isArray(value)) {
    problems.add('is not a list');
    return;
  }
  if (value.length > itemsMax)
    problems.add(`has ${value.length} entries: there may be ${itemsMax} at most`);
  const first = new Map<string, number>();
  for (const [index, item] of value.slice(0, itemsMax).entries()) {
    const at = problems.at(index);
    const key = check(item, at);
    if (key === undefined) continue;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, index);
    else at.add(`is the same as entry ${earlier}: remove one`);
  }
}

const MOUNT_FIELDS: ReadonlySet<string> = new Set(['path', 'service']);

function checkMounts(value: unknown, problems: Problems): void {
  checkList(value, MOUNTS_MAX, problems.at('mounts'), (mount, at) => {
    if (!isRecord(mount)) {
      at.add('is not an object with path and service');
      return undefined;
    }
    const unknown = Object.keys(mount).find((field) => !MOUNT_FIELDS.has(field));
    if (unknown !== undefined)
      at.add(`has the unknown field ${quoted(unknown)}: the fields are path and service`);
    checkMountService(mount['service'], at.at('service'));
    const { path } = mount;
    const reason = typeof path === 'string' ? mountPathProblem(path) : 'is not a text';
    if (reason === undefined) return path as string;
    at.at('path').add(reason);
    return undefined;
  });
}

function checkMountService(service: unknown, problems: Problems): void {
  if (typeof service !== 'string') problems.add('is not a text');
  else if (isServiceName(service)) return;
  else if (serviceReferenceOf(service)?.project !== undefined)
    problems.add(
      `is ${quoted(service)}, a service of another project: a mount passes to services of the same project`,
    );
  else problems.add(nameReason(service));
}

/** Reports mounts that pass requests to the service itself, which would be an endless loop. */
function checkOwnMounts({ name, mounts }: Readonly<Record<string, unknown>>, problems: Problems) {
  if (typeof name !== 'string' || !isServiceName(name) || !Array.isArray(mounts)) return;
  for (const [index, mount] of mounts.slice(0, MOUNTS_MAX).entries())
    if (isRecord(mount) && mount['service'] === name)
      problems.at('mounts').at(index).at('service').add('is the service itself: name another');
}

function checkCallers(value: unknown, problems: Problems): void {
  checkList(value, ADMITTED_SERVICES_MAX, problems.at('callers'), (caller, at) => {
    if (typeof caller !== 'string') {
      at.add('is not a text');
      return undefined;
    }
    if (serviceReferenceOf(caller) !== undefined) return caller;
    at.add(`is ${quoted(caller)}: name a service as <service> or <service>.<project>`);
    return undefined;
  });
}

function checkHostnames(value: unknown, problems: Problems): void {
  checkList(value, HOSTNAMES_MAX, problems.at('hostnames'), (hostname, at) => {
    const reason = typeof hostname === 'string' ? hostnameProblem(hostname) : 'is not a text';
    if (reason === undefined) return hostname as string;
    at.add(reason);
    return undefined;
  });
}

function checkVariables(value: unknown, problems: Problems): void {
  const at = problems.at('env');
  if (!isRecord(value)) {
    at.add('is not an object of names and texts');
    return;
  }
  const variables = Object.entries(value);
  if (variables.length > VARIABLES_MAX)
    at.add(`has ${variables.length} variables: there may be ${VARIABLES_MAX} at most`);
  let bytes = 0;
  for (const [name, content] of variables.slice(0, VARIABLES_MAX)) {
    checkVariable(name, content, at);
    bytes += bytesOf(name) + (typeof content === 'string' ? bytesOf(content) : 0);
  }
  if (bytes > VARIABLES_BYTES_MAX)
    at.add(`has ${bytes} bytes of names and values: there may be ${VARIABLES_BYTES_MAX} at most`);
}

function checkVariable(name: string, content: unknown, problems: Problems): void {
  if (name.length > VARIABLE_NAME_LENGTH_MAX || !VARIABLE_NAME.test(name)) {
    problems.add(
      `has the name ${quoted(name)}: use at most ${VARIABLE_NAME_LENGTH_MAX} letters, digits and _, and no digit at the beginning`,
    );
    return;
  }
  const at = problems.at(name);
  if (PLATFORM_VARIABLES.includes(name))
    at.add('may not be declared: the platform gives this variable to the process');
  if (typeof content !== 'string') at.add('is not a text');
  else if (content.includes('\0')) at.add('has the character NUL, which no variable can have');
  else if (bytesOf(content) > VARIABLE_BYTES_MAX)
    at.add(`is longer than ${VARIABLE_BYTES_MAX} bytes`);
}

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  return encoder.encode(text).byteLength;
}

/** Returns why the text is no id of a project; undefined for a valid id. */
export function projectProblem(id: string): string | undefined {
  return isProjectId(id)
    ? undefined
    : `is ${quoted(id)}, which is no id of a project: use at most ${PROJECT_ID_LENGTH_MAX} lower-case letters, digits and hyphens, with a letter first and no hyphen last`;
}
