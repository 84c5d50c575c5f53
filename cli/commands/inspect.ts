// svc inspect: what a module is, and whether the host would admit it. It asks the host's own
// admission, so both say the same; no code of the module runs.
import { readFile } from 'node:fs/promises';
import type { AccessRule, ModuleDescriptor } from '@svc/contract';
import { inspectModule, type ModuleReport } from '@svc/host';
import { readArguments } from '../arguments.ts';
import { CommandFailure, EXIT_CODE, UsageError, type Command, type ExitCode } from '../command.ts';

export const inspect: Command = {
  help: `Says what a module is: its imports and exports, its components and routes, its sizes, and
whether the host admits it, and why not. No code of the module runs.

Usage: svc inspect MODULE.wasm [-o json]

  -o, --output FORMAT   'text' or 'json'                            (default: text)

Exits with 0 when the module is admitted, with 1 when it is refused.

Example:
  svc inspect shopping-cart.wasm
`,
  async run(args): Promise<ExitCode> {
    const { values, positionals } = readArguments(
      'inspect',
      args,
      { output: { type: 'string', short: 'o', default: 'text' } },
      ['MODULE.wasm'],
    );
    if (values.output !== 'text' && values.output !== 'json')
      throw new UsageError(`inspect prints 'text' or 'json', not '${values.output}'.`);
    const report = await inspectFile(positionals[0]!);
    process.stdout.write(
      values.output === 'json' ? `${JSON.stringify(report, null, 2)}\n` : textOf(report),
    );
    return report.refusal === undefined ? EXIT_CODE.ok : EXIT_CODE.failed;
  },
};

async function inspectFile(file: string): Promise<ModuleReport> {
  let bytes;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new CommandFailure(
      'SVC_MODULE_UNREADABLE',
      `The module ${file} cannot be read (${(error as NodeJS.ErrnoException).code}). Give the path of a .wasm file.`,
      { cause: error },
    );
  }
  return inspectModule(bytes);
}

function textOf({
  imports,
  exports,
  sizes,
  stringEncoding,
  descriptor,
  refusal,
}: ModuleReport): string {
  const lines = [
    refusal === undefined ? 'admitted' : `refused: ${refusal.message} [${refusal.code}]`,
    ...section('imports', imports),
    ...section('exports', exports),
    ...(descriptor === undefined ? [] : descriptorLines(descriptor)),
    ...section('sizes', [
      row('module', `${sizes.module} bytes`),
      ...(sizes.core === undefined ? [] : [row('core module', `${sizes.core} bytes`)]),
      ...(sizes.meteredCore === undefined
        ? []
        : [row('with metering', `${sizes.meteredCore} bytes`)]),
      ...(sizes.initialMemoryPages === undefined
        ? []
        : [row('memory', `${sizes.initialMemoryPages * 64} KiB at the start`)]),
    ]),
    ...(stringEncoding === undefined ? [] : section('strings', [stringEncoding])),
  ];
  return `${lines.join('\n')}\n`;
}

function descriptorLines({ sdk, protocol, entities, endpoints }: ModuleDescriptor): string[] {
  return [
    ...section('built with', [`${sdk.name} ${sdk.version}, protocol ${protocol}`]),
    ...section(
      'components',
      entities.flatMap(({ component, state, event, commands, queries }) => [
        component,
        ...commands.map(({ name }) => `  ${row('command', name)}`),
        ...queries.map(({ name }) => `  ${row('query', name)}`),
        `  ${row('state', state.manifest)}`,
        `  ${row('events', event.manifest)}`,
      ]),
    ),
    ...section(
      'routes',
      endpoints.flatMap(({ prefix, access, routes }) =>
        routes.map(
          (route) =>
            `${route.method.padEnd(7)} ${prefix + route.path || '/'}  (${accessText(route.access ?? access)})`,
        ),
      ),
    ),
  ];
}

function accessText(rule: AccessRule): string {
  if (rule.allow !== 'services') return rule.allow;
  return rule.services === undefined ? 'services' : `services ${rule.services.join(', ')}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', title, ...(lines.length === 0 ? ['  none'] : lines.map((line) => `  ${line}`))];
}

function row(name: string, value: string): string {
  return `${name.padEnd(14)} ${value}`;
}
