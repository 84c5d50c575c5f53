// DescriptorProblems: the validation of a service's descriptor. Client and server call the same function, so a client refuses
// an invalid descriptor before it sends it.
//
// Invariants: the function is pure, never throws for a value that JSON can express, and reports all problems at once.
// What a problem quotes of the value is escaped and short. Time and number of problems are linear in the size of the
// value, and lists beyond their limit are reported once and read no further.
import { HTTP_PORT, PROCESS_PORT } from '../ports.ts';
import { isServiceName } from '../service-name.ts';
import * as field from './field-checks.ts';
import { checkHosting, checkProtocol, hostingKind, type HostingKind } from './hosting-kind.ts';
import {
  HOSTNAMES_MAX,
  MOUNTS_MAX,
  checkAllowed,
  checkCallers,
  checkHostnames,
  checkMounts,
} from './list-checks.ts';
import { Problems, isRecord, quoted, type Problem } from './problem.ts';
import type { DescriptorField } from './service-descriptor.ts';
import { checkVariables } from './variable-checks.ts';

type Descriptor = Readonly<Record<string, unknown>>;

/** Facts that a descriptor has to agree with, and that it does not contain. */
export interface DescriptorContext {
  /** Name under which the descriptor is applied. */
  readonly name?: string;
  /** Domain of the hostnames that the platform derives, also with a port; undefined if it is not known. */
  readonly baseDomain?: string | undefined;
}

/** A check for each field that is declared. The compiler holds the names against the descriptors' types. */
const CHECKS: Readonly<Record<DescriptorField, field.Check>> = {
  name: field.checkName,
  image: field.checkImage,
  hosting: checkHosting,
  // Whether there may be a protocol, and which, depends on the hosting: checkProtocol.
  protocol: () => {},
  runtime: field.checkRuntime,
  http: field.checkBoolean,
  port: field.checkPort,
  processPort: field.checkPort,
  instances: field.checkInstances,
  // Which variables there may be depends on the hosting: checkVariables.
  env: () => {},
  mounts: checkMounts,
  callers: checkCallers,
  hostnames: checkHostnames,
  resources: field.checkResources,
  database: field.checkDatabase,
  allow: checkAllowed,
  auth: field.checkAuth,
};
const REQUIRED: readonly DescriptorField[] = ['name', 'image'];

const WEB_ONLY = 'may not be declared: only a web-hosted service has it (process with http/1.1)';
const OWN_TOKENS =
  'may not be declared: the runtime verifies access tokens for modules (wasm) and for components in a process (process with svc/1); another program does so itself';
/** Fields that services of some kinds do not have, with the reason. */
const REFUSED: Readonly<Record<HostingKind, Partial<Record<DescriptorField, string>>>> = {
  embedded: { processPort: WEB_ONLY, mounts: WEB_ONLY, callers: WEB_ONLY, auth: OWN_TOKENS },
  process: { processPort: WEB_ONLY, mounts: WEB_ONLY, callers: WEB_ONLY },
  wasm: { processPort: WEB_ONLY, mounts: WEB_ONLY, callers: WEB_ONLY },
  web: {
    allow: 'may not be declared: a web-hosted service has no journal to check',
    auth: OWN_TOKENS,
  },
};

/**
 * Returns every problem of a descriptor, sorted by path. An empty list means that the value is a `ServiceDescriptor`.
 */
export function descriptorProblems(
  value: unknown,
  context: DescriptorContext = {},
): readonly Problem[] {
  const problems = new Problems();
  if (!isRecord(value)) {
    problems.add('is not an object');
    return problems.sorted();
  }
  const kind = hostingKind(value);
  for (const name of REQUIRED) if (value[name] === undefined) problems.at(name).add('is missing');
  checkFields(value, problems, kind);
  checkProtocol(value, problems.at('protocol'));
  if (value['env'] !== undefined) checkVariables(value['env'], problems.at('env'), kind);
  if (kind === 'web') checkWeb(value, problems);
  checkWithoutHttp(value, problems, kind);
  checkContext(value, context, problems);
  return problems.sorted();
}

const UNKNOWN_REPORTED_MAX = 20;

function checkFields(value: Descriptor, problems: Problems, kind: HostingKind | undefined): void {
  let unknown = 0;
  for (const [name, content] of Object.entries(value)) {
    if (content === undefined) continue;
    if (Object.hasOwn(CHECKS, name)) {
      const at = problems.at(name);
      const refusal = kind === undefined ? undefined : REFUSED[kind][name as DescriptorField];
      if (refusal !== undefined) at.add(refusal);
      else CHECKS[name as DescriptorField](content, at);
      continue;
    }
    unknown += 1;
    if (unknown <= UNKNOWN_REPORTED_MAX)
      problems.add(
        `has the unknown field ${quoted(name)}: the fields are ${Object.keys(CHECKS).join(', ')}`,
      );
  }
}

/** Checks what a web-hosted service has to declare otherwise than others. */
function checkWeb(value: Descriptor, problems: Problems): void {
  if (value['http'] === false)
    problems.at('http').add('is not true: a web-hosted service serves HTTP');
  checkCollision(value, problems);
  checkOwnMounts(value, problems);
}

/** Reports the two ports of a service if they are the same one, with their defaults. */
function checkCollision(value: Descriptor, problems: Problems): void {
  const { port = HTTP_PORT, processPort = PROCESS_PORT } = value;
  if (typeof port !== 'number' || port !== processPort) return;
  const name = value['processPort'] === undefined ? 'port' : 'processPort';
  const other =
    name === 'port' ? 'the default of processPort' : 'the port on which the service takes requests';
  problems.at(name).add(`is ${port}, which is also ${other}: choose another`);
}

/** Reports mounts that pass requests to the service itself, which would be an endless loop. */
function checkOwnMounts({ name, mounts }: Descriptor, problems: Problems): void {
  if (typeof name !== 'string' || !isServiceName(name) || !Array.isArray(mounts)) return;
  for (const [index, mount] of mounts.slice(0, MOUNTS_MAX).entries())
    if (isRecord(mount) && mount['service'] === name)
      problems.at('mounts').at(index).at('service').add('is the service itself: name another');
}

/** Reports what a service without HTTP cannot have. */
function checkWithoutHttp(
  { http, hostnames }: Descriptor,
  problems: Problems,
  kind: HostingKind | undefined,
): void {
  if (http !== false || kind === 'web') return;
  if (Array.isArray(hostnames) && hostnames.length > 0)
    problems.at('hostnames').add('may not be declared with "http": false');
}

function checkContext(
  { name, hostnames }: Descriptor,
  { name: expected, baseDomain }: DescriptorContext,
  problems: Problems,
): void {
  if (expected !== undefined && typeof name === 'string' && name !== expected)
    problems.at('name').add(`is ${quoted(name)}, but the path names ${quoted(expected)}`);
  if (baseDomain === undefined || !Array.isArray(hostnames)) return;
  const domain = baseDomain.replace(/:\d+$/, '');
  for (const [index, hostname] of hostnames.slice(0, HOSTNAMES_MAX).entries())
    if (hostname === domain || (typeof hostname === 'string' && hostname.endsWith(`.${domain}`)))
      problems
        .at('hostnames')
        .at(index)
        .add(
          `is under ${quoted(domain)}, whose hostnames the platform derives: expose the service instead`,
        );
}
