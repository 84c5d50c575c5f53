// ListChecks: the rules of the fields of a descriptor that are lists. Lists beyond their limit are reported once, and what
// is beyond is not read.
import { ADMITTED_SERVICES_MAX } from '../access-rule.ts';
import { ALLOWABLE_FINDINGS } from '../generated/runtime-words.ts';
import { isServiceName, serviceReferenceOf } from '../service-name.ts';
import { checkMembers, nameReason } from './field-checks.ts';
import { hostnameProblem } from './hostname.ts';
import { mountPathProblem } from './mount-path.ts';
import { Problems, quoted } from './problem.ts';

export const MOUNTS_MAX = 100;
export const HOSTNAMES_MAX = 100;
export const ALLOWED_FINDINGS_MAX = 100;
const COMPONENT_LENGTH_MAX = 200;
/** Grammar of an entry of `allow`, as a JSON Schema writes it. */
export const ALLOWED_FINDING_PATTERN = `^(${ALLOWABLE_FINDINGS.join('|')})(:[\\x21-\\x7e]{1,${COMPONENT_LENGTH_MAX}})?$`;

/**
 * Calls `check` for each item, and reports a list that is none, is too long, or has an item twice. `check` returns what
 * must be different between items; undefined if it reported a problem instead.
 */
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

/** Checks a list of texts, of which `reasonOf` says why one is wrong. */
function checkTexts(
  value: unknown,
  itemsMax: number,
  problems: Problems,
  reasonOf: (text: string) => string | undefined,
): void {
  checkList(value, itemsMax, problems, (item, at) => {
    const reason = typeof item === 'string' ? reasonOf(item) : 'is not a text';
    if (reason === undefined) return item as string;
    at.add(reason);
    return undefined;
  });
}

export function checkMounts(value: unknown, problems: Problems): void {
  checkList(value, MOUNTS_MAX, problems, (mount, at) => {
    if (!checkMembers(mount, ['path', 'service'], at)) return undefined;
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

export function checkCallers(value: unknown, problems: Problems): void {
  checkTexts(value, ADMITTED_SERVICES_MAX, problems, (caller) =>
    serviceReferenceOf(caller) === undefined
      ? `is ${quoted(caller)}: name a service as <service> or <service>.<project>`
      : undefined,
  );
}

export function checkHostnames(value: unknown, problems: Problems): void {
  checkTexts(value, HOSTNAMES_MAX, problems, hostnameProblem);
}

export function checkAllowed(value: unknown, problems: Problems): void {
  checkTexts(value, ALLOWED_FINDINGS_MAX, problems, (text) => {
    const colon = text.indexOf(':');
    const name = colon === -1 ? text : text.slice(0, colon);
    if (!ALLOWABLE_FINDINGS.some((finding) => finding === name))
      return `is ${quoted(text)}: name a finding of svc upgrade-check, one of ${ALLOWABLE_FINDINGS.join(', ')}`;
    if (colon === -1) return undefined;
    const component = text.slice(colon + 1);
    return component.length <= COMPONENT_LENGTH_MAX && /^[\x21-\x7e]+$/.test(component)
      ? undefined
      : `is ${quoted(text)}: name a component after the colon, as in ${name}:cart`;
  });
}
