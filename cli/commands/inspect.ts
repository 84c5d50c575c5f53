// svc inspect: describes a module, and checks whether the host would admit it. It uses the host's own admission with
// the same settings, so it refuses what the host refuses; no code of the module runs. A process is asked for what it holds.
import { basename } from 'node:path';
import {
  type AccessRule,
  bearerOf,
  bearerText,
  type CorsDescriptor,
  declaredCors,
  limitsOf,
  limitsText,
  type ModuleDescriptor,
  type ScheduleDescriptor,
  recordOf,
  type ViewDescriptor,
} from '@svc/contract';
import type { InspectedModule } from '@svc/host/tools';
import { command, CommandFailure, EXIT_CODE, type ExitCode } from '../command.ts';
import { configurationLines } from '../configuration-lines.ts';
import { OUTPUT_OPTION } from '../description.ts';
import {
  checkSettings,
  type GivenSource,
  givenSource,
  PROCESS_OPTIONS,
  withSources,
} from '../source-to-run.ts';
import { UsageError } from '../usage-error.ts';
import { printable, printableJson } from '@svc/kit/printable';
import { outputStyle, printData } from '../terminal.ts';

/**
 * Number of hexadecimal digits of a module's SHA-256 hash that are its version in the OpenAPI document, because modules
 * have no version numbers.
 */
const VERSION_DIGITS = 12;
/** Number of digits of a definition; `svc views` shows as many. */
const DEFINITION_DIGITS = 12;

export const inspect = command(
  {
    name: 'inspect',
    summary: 'say what a module is, and whether the host admits it',
    about: `Says what a module is: its imports and exports, its components and routes, its sizes, and
whether the host admits it, and why not. No code of the module runs. A process is asked for what it
holds.`,
    words: [{ name: 'MODULE.wasm', optional: true, completes: { kind: 'file', ending: '.wasm' } }],
    options: {
      ...PROCESS_OPTIONS,
      output: OUTPUT_OPTION,
      openapi: {
        type: 'boolean',
        help: 'its routes as an OpenAPI 3.1 document, in JSON, and nothing else',
      },
      set: {
        type: 'string',
        multiple: true,
        value: 'NAME=VALUE',
        help: `a setting with which the module would run, by its dotted name;
may be repeated (docs/reference/settings.md lists them)`,
      },
    },
    notes: `Exits with 0 when the module is admitted, with 1 when it is refused. Settings are read from the
environment as svc run does.`,
    examples: [
      'svc inspect shopping-cart.wasm',
      'svc inspect shopping-cart.wasm --set svc.wasm.memory-pages-max=256',
      "svc inspect shopping-cart.wasm -o json | jq '.descriptor.entities[].component'",
      'svc inspect shopping-cart.wasm --openapi > openapi.json',
      'svc inspect --process 127.0.0.1:9010',
    ],
  },
  async ([module], { output, openapi, set, ...options }) => {
    const given = givenSource('inspect', { module, ...options });
    if (given === undefined)
      throw new UsageError(
        'inspect takes MODULE.wasm, --process ADDRESS or --process-command COMMAND.',
      );
    const { name, kind } = given;
    checkSettings('inspect', set, given);
    const report = kind === 'module' ? await inspected(name, set) : await described(given);
    if (openapi)
      return printOpenApi(kind === 'module' ? basename(name, '.wasm') : 'process', report);
    process.stdout.write(
      output === 'json' ? `${printableJson(JSON.stringify(report, null, 2))}\n` : textOf(report),
    );
    return report.refusal === undefined ? EXIT_CODE.ok : EXIT_CODE.failed;
  },
);

/** Inspects a module. Throws UsageError for an unknown setting, and the errors of `inspectModuleFile`. */
async function inspected(file: string, settings: readonly string[]): Promise<InspectedModule> {
  const { SvcError, inspectModuleFile } = await import('@svc/host/tools');
  try {
    return await inspectModuleFile(file, settings, process.env);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'SVC_USAGE')
      throw new UsageError(error.message);
    throw error;
  }
}

/** The code that a process holds. */
interface InspectedProcess extends Pick<InspectedModule, 'viewDefinitions'> {
  /** Address of the process, or the command that starts it. */
  readonly process: string;
  readonly fingerprint: string;
  readonly descriptor: ModuleDescriptor;
  readonly refusal?: undefined;
}

/** Asks a process what it holds. Rejects as `withSources` does. */
async function described(given: GivenSource): Promise<InspectedProcess> {
  const tools = await import('@svc/host/tools');
  return withSources(tools, [given], [], async ([{ source }]) => {
    const { descriptor, fingerprint } = source;
    const { views } = descriptor;
    const definitions =
      views === undefined ? {} : { viewDefinitions: tools.viewDefinitionsOf(source) };
    return { process: given.name, fingerprint, descriptor, ...definitions };
  });
}

/**
 * Prints the OpenAPI document that a service of the code would serve at its observability endpoint, but with the
 * title that is given, and without the address of a service. Throws CommandFailure if the module is refused.
 */
async function printOpenApi(
  title: string,
  { descriptor, fingerprint, refusal }: InspectedModule | InspectedProcess,
): Promise<ExitCode> {
  if (refusal !== undefined) throw new CommandFailure(refusal.code, refusal.message);
  const { openApi } = await import('@svc/contract');
  const version = fingerprint!.slice(0, VERSION_DIGITS);
  const document = openApi(descriptor!, { title, version });
  await printData(`${printableJson(JSON.stringify(document, null, 2))}\n`);
  return EXIT_CODE.ok;
}

function textOf(report: InspectedModule | InspectedProcess): string {
  if (!('process' in report)) return moduleText(report);
  const { process, descriptor, viewDefinitions } = report;
  const lines = [`process ${process}`, ...descriptorLines(descriptor, viewDefinitions)];
  return `${lines.map(printable).join('\n')}\n`;
}

function moduleText({
  imports,
  exports,
  sizes,
  stringEncoding,
  descriptor,
  viewDefinitions,
  refusal,
}: InspectedModule): string {
  const lines = [
    ...section('imports', imports),
    ...section('exports', exports),
    ...(descriptor === undefined ? [] : descriptorLines(descriptor, viewDefinitions)),
    ...section('sizes', [
      ...(sizes.module === undefined ? [] : [row('module', `${sizes.module} bytes`)]),
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
  const verdict =
    refusal === undefined
      ? outputStyle('green', 'admitted')
      : `${outputStyle('red', 'refused')}: ${printable(refusal.message)} [${refusal.code}]`;
  return `${[verdict, ...lines.map(printable)].join('\n')}\n`;
}

function descriptorLines(
  descriptor: ModuleDescriptor,
  viewDefinitions: InspectedModule['viewDefinitions'] = {},
): string[] {
  const { sdk, protocol, entities, endpoints, views, consumers, schedules } = descriptor;
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
      endpoints.flatMap((endpoint) =>
        endpoint.routes.map((route) => {
          const access = accessText(route.access ?? endpoint.access);
          const cors = corsText(declaredCors(endpoint, route));
          const bearer = bearerOf(endpoint, route);
          const token = bearer === undefined ? '' : `; ${bearerText(bearer)}`;
          const limits = limitsText(limitsOf(endpoint, route));
          const limited = limits === undefined ? '' : `; at most ${limits}`;
          return `${route.method.padEnd(7)} ${endpoint.prefix + route.path || '/'}  (${access}${token}${limited}${cors})`;
        }),
      ),
    ),
    ...(descriptor.configuration === undefined
      ? []
      : section('configuration', configurationLines(descriptor))),
    ...(views === undefined
      ? []
      : section(
          'views',
          views.flatMap((view) => viewLines(view, viewDefinitions[view.id], descriptor)),
        )),
    ...(consumers === undefined
      ? []
      : section(
          'consumers',
          consumers.map(({ id, start, sources }) =>
            row(id, `of ${sources.join(', ')}, from ${start}`),
          ),
        )),
    ...(schedules === undefined ? [] : section('schedules', schedules.map(scheduleText))),
  ];
}

/** `rows`: the definition of its rows, undefined for a module that is refused. */
function viewLines(
  { id, sources, row: rowType, computesKeys, indexes, queries, definition }: ViewDescriptor,
  rows: string | undefined,
  { types }: ModuleDescriptor,
): string[] {
  const fields = recordOf(rowType, types)?.properties ?? {};
  return [
    id,
    `  ${row('sources', sources.join(', '))}`,
    `  ${row('keys', computesKeys === true ? 'computed from the events' : 'the id of the entity')}`,
    `  ${row('row', Object.keys(fields).join(', '))}`,
    ...indexes.map((index) => `  ${row('index', index.join(', '))}`),
    ...queries.map(
      ({ name, where }) => `  ${row('query', where === '' ? name : `${name}: ${where}`)}`,
    ),
    `  ${row('version', definition ?? 'that of the module: any change of it builds the rows again')}`,
    ...(rows === undefined ? [] : [`  ${row('definition', rows.slice(0, DEFINITION_DIGITS))}`]),
  ];
}

function scheduleText({ id, target, command: sent, due }: ScheduleDescriptor): string {
  const when =
    due.kind === 'every'
      ? `every ${due.everyMs} ms`
      : `${due.expression} (${due.zone === '' ? 'UTC' : due.zone})`;
  return row(id, `${when}: ${target.component}/${target.id} ${sent}`);
}

function accessText(rule: AccessRule): string {
  if (rule.allow !== 'services') return rule.allow;
  return rule.services === undefined ? 'services' : `services ${rule.services.join(', ')}`;
}

/** Describes which pages of other origins may call the route, if the operator allows them. */
function corsText(cors: CorsDescriptor | undefined): string {
  if (cors === undefined) return '';
  const { origins, credentials } = cors;
  const pages = origins === undefined ? '' : ` for ${origins.join(', ')}`;
  return `; CORS${pages}${credentials === false ? ', without credentials' : ''}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', title, ...(lines.length === 0 ? ['  none'] : lines.map((line) => `  ${line}`))];
}

function row(name: string, value: string): string {
  return `${name.padEnd(14)} ${value}`;
}
