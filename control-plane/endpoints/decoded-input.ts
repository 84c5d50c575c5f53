// DecodedInput: path parameters, query and body of a request, decoded by its row of the table of routes, with every problem at
// once.
import {
  PARAMETERS,
  ROUTES,
  bodyProblems,
  schemaProblems,
  type DescriptorContext,
  type InputOf,
  type ParameterName,
  type Problem,
  type Route,
  type RouteName,
  type Schema,
} from '@svc/client';
import { readJsonBody } from './json-body.ts';

/** Parts of a request that nothing has read yet. */
export interface RawInput {
  /** Path parameters by name: those of the route. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly queryText: string;
  /** Empty without a body. */
  readonly body: Uint8Array;
}

export type DecodedInput<Name extends RouteName> =
  | { readonly input: InputOf<Name> }
  | { readonly problems: readonly Problem[] };

/** `baseDomain`: that of the platform, under which no descriptor may declare a hostname. */
export function decodedInput<Name extends RouteName>(
  name: Name,
  { parameters, queryText, body: bytes }: RawInput,
  baseDomain?: string,
): DecodedInput<Name> {
  const route: Route = ROUTES[name];
  const problems: Problem[] = Object.entries(parameters).flatMap(([parameter, value]) =>
    problemsAt(parameter, PARAMETERS[parameter as ParameterName], value),
  );
  const query = new DecodedQuery(route.query ?? {}, queryText);
  problems.push(...query.problems);
  const body = new DecodedBody(name, bytes, contextOf(parameters, baseDomain));
  problems.push(...body.problems);
  if (problems.length > 0) return { problems };
  return {
    input: { ...parameters, ...query.values, body: body.value } as unknown as InputOf<Name>,
  };
}

function contextOf(
  { name }: RawInput['parameters'],
  baseDomain: string | undefined,
): DescriptorContext {
  return name === undefined ? { baseDomain } : { name, baseDomain };
}

function problemsAt(name: string, schema: Schema<unknown>, value: unknown): readonly Problem[] {
  return schemaProblems(schema, value).map(({ reason }) => ({ path: `/${name}`, reason }));
}

/** The body of a request; an empty object in place of one that is optional. */
class DecodedBody {
  readonly value: unknown;
  readonly problems: readonly Problem[];

  constructor(name: RouteName, bytes: Uint8Array, context: DescriptorContext) {
    const { body: schema, isBodyOptional }: Route = ROUTES[name];
    if (schema === undefined) {
      this.problems = bodyProblems(name, bytes.byteLength === 0 ? undefined : null);
      return;
    }
    const body = readJsonBody(bytes);
    if (body.kind === 'unreadable') {
      this.problems = [body.problem];
      return;
    }
    if (body.kind === 'none') {
      this.problems = bodyProblems(name, undefined);
      if (isBodyOptional === true) this.value = {};
      return;
    }
    this.value = body.value;
    this.problems = [...body.problems, ...bodyProblems(name, body.value, context)];
  }
}

/** The query of a request. Names that the route does not have are problems: a mistyped one would ask for everything. */
class DecodedQuery {
  readonly values: Record<string, unknown> = {};
  readonly problems: Problem[] = [];

  constructor(schemas: Readonly<Record<string, Schema<unknown>>>, text: string) {
    const names = Object.keys(schemas);
    if (names.length === 0) return;
    for (const pair of text.split('&').filter((each) => each !== '')) {
      const equals = pair.indexOf('=');
      const name = unescaped(equals === -1 ? pair : pair.slice(0, equals));
      const value = unescaped(equals === -1 ? '' : pair.slice(equals + 1));
      if (name === undefined || value === undefined)
        this.#add('/query', 'has an escape that is not UTF-8');
      else if (!Object.hasOwn(schemas, name))
        this.#add(`/${name}`, `is no parameter of the query: they are ${names.join(', ')}`);
      else if (Object.hasOwn(this.values, name)) this.#add(`/${name}`, 'is given twice');
      else {
        this.values[name] = valueOf(schemas[name]!, value);
        this.problems.push(...problemsAt(name, schemas[name]!, this.values[name]));
      }
    }
  }

  #add(path: string, reason: string): void {
    this.problems.push({ path, reason });
  }
}

/** Returns undefined for text that is no percent-encoded UTF-8. */
function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Returns the value that the text stands for; the text itself, which the schema refuses, if it stands for none. */
function valueOf({ type }: Schema<unknown>, text: string): unknown {
  if (type === 'integer') return /^\d{1,16}$/.test(text) ? Number(text) : text;
  // A flag is present, or `true`.
  if (type === 'boolean')
    return text === '' || text === 'true' ? true : text === 'false' ? false : text;
  return text;
}
