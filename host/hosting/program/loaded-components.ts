// LoadedComponents: imports the file of a program and takes the components that it exports, in the thread of the
// program. The message of a problem says what is wrong in the file; the tool's thread puts the file's name before it.
import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SvcError } from '@svc/kit/svc-error';
import type { Components } from '@svc/components/components';
import { isConsumerDefinition } from '@svc/components/consumer-definition';
import { isEntityDefinition } from '@svc/components/entity-definition';
import { isViewDefinition } from '@svc/components/view-definition';
import { STARTS_SERVICE } from './loading-mark.ts';
import { thrownLine } from './thrown-line.ts';

const TYPESCRIPT = new Set(['.ts', '.mts', '.cts']);
const NAMES_LISTED_MAX = 10;
const LISTS = ['entities', 'endpoints', 'views', 'consumers', 'schedules'];
/** Definitions that only this copy of the package can run, with the function that makes them. */
const DEFINITIONS = [
  { list: 'entities', define: 'defineEntity', isDefinition: isEntityDefinition },
  { list: 'views', define: 'defineView', isDefinition: isViewDefinition },
  { list: 'consumers', define: 'defineConsumer', isDefinition: isConsumerDefinition },
] as const;
const REMEDY =
  'Export the object that the program spreads into createService: ' +
  'export const components: Components = { entities: […], endpoints: […] };';

/**
 * Returns the components that the file exports. `mark`: the mark of this thread (loading-mark.ts). Throws
 * SVC_PROGRAM_INVALID or SVC_DEFINITION_INVALID; the messages do not name the file.
 */
export async function loadComponents(
  file: string,
  mark: { readonly hasStartedService: boolean },
): Promise<Components> {
  checkFile(file);
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = (await import(pathToFileURL(resolve(file)).href)) as typeof exported;
  } catch (error) {
    if (mark.hasStartedService) throw invalid(STARTS_SERVICE);
    // The error of an invalid definition says itself what is wrong.
    if (isDefinitionError(error)) throw new SvcError('SVC_DEFINITION_INVALID', error.message);
    throw invalid(`It cannot be loaded: ${thrownLine(error)}`);
  }
  // The program may have caught the error that createService threw.
  if (mark.hasStartedService) throw invalid(STARTS_SERVICE);
  return checkComponents(exported);
}

function checkFile(file: string): void {
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile();
  if (isFile === undefined) throw invalid('There is no such file.');
  if (!isFile) throw invalid(`It is no file. Give the file that exports 'components'.`);
  const extension = extname(file);
  if (extension === '.wasm')
    throw invalid('It is a module and no program. Give it where the command takes a module.');
  if (TYPESCRIPT.has(extension) && process.features.typescript === false)
    throw invalid(
      `Node ${process.version} does not run TypeScript as it was started here. ` +
        'Leave out its option --no-strip-types, or give the JavaScript that was made of the file.',
    );
}

function checkComponents(exported: Readonly<Record<string, unknown>>): Components {
  const { components } = exported;
  if (components === undefined) {
    const names = Object.keys(exported).slice(0, NAMES_LISTED_MAX).join(', ');
    const found = names === '' ? '' : ` (it exports ${names})`;
    throw invalid(`It exports no 'components'${found}. ${REMEDY}`);
  }
  if (typeof components !== 'object' || components === null || Array.isArray(components))
    throw invalid(`Its 'components' is no object of entities and endpoints. ${REMEDY}`);
  const lists = components as Readonly<Record<string, unknown>>;
  for (const name of LISTS)
    if (!Array.isArray(lists[name] ?? []))
      throw invalid(`The ${name} of its 'components' are no list. ${REMEDY}`);
  for (const { list, define, isDefinition } of DEFINITIONS)
    for (const [index, definition] of ((lists[list] ?? []) as unknown[]).entries())
      if (!isDefinition(definition))
        throw invalid(
          `components.${list}[${index}] was not made by ${define} of the @svc/host that this svc uses. ` +
            `Make it with ${define}, and run the svc that is installed beside the program (npx svc).`,
        );
  for (const [index, endpoint] of ((lists['endpoints'] ?? []) as unknown[]).entries())
    if (!isEndpoint(endpoint))
      throw invalid(`components.endpoints[${index}] is no endpoint. Make it with defineEndpoint.`);
  return components;
}

function isEndpoint(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { prefix, routes } = value as { readonly prefix?: unknown; readonly routes?: unknown };
  return typeof prefix === 'string' && typeof routes === 'object' && routes !== null;
}

/** Compares the code and not the class of the error: the program may have loaded another copy of @svc/host. */
function isDefinitionError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'SVC_DEFINITION_INVALID';
}

function invalid(message: string): SvcError {
  return new SvcError('SVC_PROGRAM_INVALID', message);
}
