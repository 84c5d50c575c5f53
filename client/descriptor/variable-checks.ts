// VariableChecks: the rules of the variables that a descriptor declares. Programs get them as their environment. Those of a wasm-hosted
// service set limits, log and shards of the runtime, or are values of the module's configuration; so do those of a process with components,
// which gets all of them as well.
//
// Invariant: only a variable of the closed list may reach the environment of a runtime. One such as NODE_OPTIONS would run code
// outside of the sandbox.
import { RUNTIME_VARIABLES } from '../generated/runtime-words.ts';
import { COMPONENT_PORT_VARIABLE, PLATFORM_VARIABLES, VARIABLE_NAME } from '../variable-names.ts';
import type { HostingKind } from './hosting-kind.ts';
import { Problems, bytesOf, isRecord, quoted } from './problem.ts';

export const VARIABLES_MAX = 1000;
export const VARIABLE_NAME_LENGTH_MAX = 200;
export const VARIABLE_BYTES_MAX = 32 * 1024;
/** Names and values of all variables together, in bytes of UTF-8. */
export const VARIABLES_BYTES_MAX = 256 * 1024;

const runtimeVariables: ReadonlySet<string> = new Set(RUNTIME_VARIABLES);
/** Prefix of all variables by which the runtime is set. No value of a configuration can be declared with it. */
export const SETTING_PREFIX = 'SVC_';
/** Prefix of the variables that set how the runtime calls a process. */
export const PROCESS_SETTING_PREFIX = 'SVC_PROCESS_';
/** The prefixes with which only the settings of the closed list may be declared. A process may have other variables of its own. */
const CLOSED_PREFIXES: Partial<Record<HostingKind, string>> = {
  wasm: SETTING_PREFIX,
  process: PROCESS_SETTING_PREFIX,
};

/** The variables of a service of hosting `wasm` or `process`, by their purpose for the runtime. */
export interface ModuleVariables {
  /** Settings of the runtime, for its environment. */
  readonly settings: Readonly<Record<string, string>>;
  /** Values of the configuration. Those of a process are variables of its own as well, and not all of them need be values. */
  readonly configuration: Readonly<Record<string, string>>;
}

/** Divides the variables of a service of hosting `wasm` or `process`. */
export function moduleVariables(env: Readonly<Record<string, string>> = {}): ModuleVariables {
  const variables = Object.entries(env);
  return {
    settings: Object.fromEntries(variables.filter(([name]) => runtimeVariables.has(name))),
    configuration: Object.fromEntries(
      variables.filter(([name]) => !name.startsWith(SETTING_PREFIX)),
    ),
  };
}

export function checkVariables(
  value: unknown,
  problems: Problems,
  kind: HostingKind | undefined,
): void {
  if (!isRecord(value)) {
    problems.add('is not an object of names and texts');
    return;
  }
  const variables = Object.entries(value);
  if (variables.length > VARIABLES_MAX)
    problems.add(`has ${variables.length} variables: there may be ${VARIABLES_MAX} at most`);
  let bytes = 0;
  for (const [name, content] of variables.slice(0, VARIABLES_MAX)) {
    checkVariable(name, content, problems, kind);
    bytes += bytesOf(name) + (typeof content === 'string' ? bytesOf(content) : 0);
  }
  if (bytes > VARIABLES_BYTES_MAX)
    problems.add(
      `has ${bytes} bytes of names and values: there may be ${VARIABLES_BYTES_MAX} at most`,
    );
}

function checkVariable(
  name: string,
  content: unknown,
  problems: Problems,
  kind: HostingKind | undefined,
): void {
  if (name.length > VARIABLE_NAME_LENGTH_MAX || !VARIABLE_NAME.test(name)) {
    problems.add(
      `has the name ${quoted(name)}: use at most ${VARIABLE_NAME_LENGTH_MAX} letters, digits and _, and no digit at the beginning`,
    );
    return;
  }
  const at = problems.at(name);
  const closed = kind && CLOSED_PREFIXES[kind];
  const isOfPlatform =
    PLATFORM_VARIABLES.includes(name) || (kind === 'process' && name === COMPONENT_PORT_VARIABLE);
  if (isOfPlatform) at.add('may not be declared: the platform gives this variable to the process');
  else if (closed !== undefined && name.startsWith(closed) && !runtimeVariables.has(name))
    at.add(
      'may not be declared: of the settings of the runtime, only limits, log and shards can be set',
    );
  if (typeof content !== 'string') at.add('is not a text');
  else if (content.includes('\0')) at.add('has the character NUL, which no variable can have');
  else if (bytesOf(content) > VARIABLE_BYTES_MAX)
    at.add(`is longer than ${VARIABLE_BYTES_MAX} bytes`);
}
