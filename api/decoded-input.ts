// DecodedInput: path parameters, query and body of a request, decoded by its row of the table of routes, with every problem at
// once.
import {
  bodyProblems,
  schemaProblems,
  type BodyJudge,
  type InputOfRoute,
  type Problem,
  type Route,
  type Schema,
} from '@svc/client';
import type { ApiTable, RouteRows } from './api-table.ts';
import { readJsonBody } from './json-body.ts';

/** Parts of a request that nothing has read yet. */
export interface RawInput {
  /** Path parameters by name: those of the route. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly queryText: string;
  /** Empty without a body. */
  readonly body: Uint8Array;
}

export type DecodedInput<Of extends Route<string>> =
  | { readonly input: InputOfRoute<Of> }
  | { readonly problems: readonly Problem[] };

export function decodedInput<Rows extends RouteRows, Name extends keyof Rows>(
  name: Name,
  { parameters, queryText, body: bytes }: RawInput,
  table: ApiTable<Rows>,
): DecodedInput<Rows[Name]> {
  const route = table.routes[name]!;
  const schemas: Readonly<Record<string, Schema<unknown>>> = table.parameters;
  const problems: Problem[] = Object.entries(parameters).flatMap(([parameter, value]) =>
    problemsAt(parameter, schemas[parameter]!, value),
  );
  const query = new DecodedQuery(route.query ?? {}, queryText);
  problems.push(...query.problems);
  const { bodyProblems: judge } = table;
  const body = new DecodedBody(route, bytes, judge && ((value) => judge(name, value, parameters)));
  problems.push(...body.problems);
  if (problems.length > 0) return { problems };
  return {
    input: { ...parameters, ...query.values, body: body.value } as unknown as InputOfRoute<
      Rows[Name]
    >,
  };
}

function problemsAt(name: string, schema: Schema<unknown>, value: unknown): readonly Problem[] {
  return schemaProblems(schema, value).map(({ reason }) => ({ path: `/${name}`, reason }));
}

/** The body of a request; an empty object in place of one that is optional. */
class DecodedBody {
  readonly value: unknown;
  readonly problems: readonly Problem[];

  constructor(route: Route<string>, bytes: Uint8Array, judge: BodyJudge | undefined) {
    if (route.body === undefined) {
      this.problems = bodyProblems(route, bytes.byteLength === 0 ? undefined : null);
      return;
    }
    const body = readJsonBody(bytes);
    if (body.kind === 'unreadable') {
      this.problems = [body.problem];
      return;
    }
    if (body.kind === 'none') {
      this.problems = bodyProblems(route, undefined);
      if (route.isBodyOptional === true) this.value = {};
      return;
    }
    this.value = body.value;
    this.problems = [...body.problems, ...bodyProblems(route, body.value, judge)];
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
