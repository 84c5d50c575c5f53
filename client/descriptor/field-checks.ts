// FieldChecks: the rules of the fields of a descriptor that are one value or an object of few. Each check gets the value of
// a field that is declared, and the problems as seen from the field.
import { RESERVED_PORTS } from '../ports.ts';
import {
  PROJECT_ID_LENGTH_MAX,
  SERVICE_NAME_LENGTH_MAX,
  isProjectId,
  isServiceName,
} from '../service-name.ts';
import { imageProblem } from './image-reference.ts';
import { Problems, isRecord, notOne, quoted } from './problem.ts';
import { cpuMillis, memoryBytes } from './resource-quantity.ts';
import { INSTANCES_MAX, PLATFORM_AUTH } from './service-descriptor.ts';

export const SECRET_NAME_LENGTH_MAX = 253;
export const SECRET_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
export const RUNTIME_VERSION =
  /^\d{1,9}\.\d{1,9}\.\d{1,9}(-[0-9A-Za-z.-]{1,100})?(\+[0-9A-Za-z.-]{1,100})?$/;

export type Check = (value: unknown, problems: Problems) => void;

export function checkName(value: unknown, problems: Problems): void {
  if (typeof value !== 'string') problems.add('is not a text');
  else if (!isServiceName(value)) problems.add(nameReason(value));
}

/** Returns why a text is no name of a service, which it must not be. */
export function nameReason(name: string): string {
  return `is ${quoted(name)}, which is no name of a service: use at most ${SERVICE_NAME_LENGTH_MAX} lower-case letters, digits and hyphens, with a letter first and no hyphen last`;
}

/** Returns why the text is no id of a project; undefined for a valid id. */
export function projectProblem(id: string): string | undefined {
  return isProjectId(id)
    ? undefined
    : `is ${quoted(id)}, which is no id of a project: use at most ${PROJECT_ID_LENGTH_MAX} lower-case letters, digits and hyphens, with a letter first and no hyphen last`;
}

export function checkImage(value: unknown, problems: Problems): void {
  const reason =
    typeof value === 'string'
      ? imageProblem(value)
      : notOne(value, 'the name of an image such as shop/cart:4');
  if (reason !== undefined) problems.add(reason);
}

export function checkRuntime(value: unknown, problems: Problems): void {
  if (typeof value !== 'string' || !RUNTIME_VERSION.test(value))
    problems.add(notOne(value, 'a version such as 1.4.0'));
}

export function checkAuth(value: unknown, problems: Problems): void {
  if (value !== PLATFORM_AUTH) problems.add(notOne(value, PLATFORM_AUTH));
}

export function checkBoolean(value: unknown, problems: Problems): void {
  if (typeof value !== 'boolean') problems.add('is not true or false');
}

export function checkPort(value: unknown, problems: Problems): void {
  if (!isWholeNumber(value, 1, 65_535)) {
    problems.add('is not a whole number from 1 to 65535');
    return;
  }
  const reserved = RESERVED_PORTS.find(({ port }) => port === value);
  if (reserved !== undefined)
    problems.add(`is ${value}, but it is the port of ${reserved.purpose}: choose another`);
}

export function checkInstances(value: unknown, problems: Problems): void {
  if (!isWholeNumber(value, 1, INSTANCES_MAX))
    problems.add(`is not a whole number from 1 to ${INSTANCES_MAX}`);
}

function isWholeNumber(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

export function checkResources(value: unknown, problems: Problems): void {
  if (!checkMembers(value, ['cpu', 'memory'], problems)) return;
  const { cpu, memory } = value;
  if (cpu !== undefined && (typeof cpu !== 'string' || cpuMillis(cpu) === undefined))
    problems.at('cpu').add(notOne(cpu, 'a quantity of cores such as 500m or 2'));
  if (memory !== undefined && (typeof memory !== 'string' || memoryBytes(memory) === undefined))
    problems.at('memory').add(notOne(memory, 'a quantity of bytes such as 512Mi'));
}

export function checkDatabase(value: unknown, problems: Problems): void {
  if (!checkMembers(value, ['urlFrom'], problems)) return;
  const { urlFrom } = value;
  if (
    typeof urlFrom !== 'string' ||
    urlFrom.length > SECRET_NAME_LENGTH_MAX ||
    !SECRET_NAME.test(urlFrom)
  )
    problems
      .at('urlFrom')
      .add(notOne(urlFrom, 'the name of a secret: lower-case letters, digits, hyphens and dots'));
}

/** Reports a value that is no object of the given members, and the first member that it may not have. */
export function checkMembers(
  value: unknown,
  members: readonly string[],
  problems: Problems,
): value is Readonly<Record<string, unknown>> {
  const listed = members.join(' and ');
  if (!isRecord(value)) {
    problems.add(`is not an object with ${listed}`);
    return false;
  }
  const unknown = Object.keys(value).find((member) => !members.includes(member));
  if (unknown !== undefined)
    problems.add(
      `has the unknown field ${quoted(unknown)}: ${members.length === 1 ? 'the only field is' : 'the fields are'} ${listed}`,
    );
  return true;
}
