// BreakingChanges: what of an OpenAPI document breaks the clients of an earlier one.
//
// A client sends what the earlier document allows, so requests of the earlier document have to be accepted by the later one; and it reads
// what the earlier document describes, so answers of the later document have to be answers of the earlier one. New routes, new
// optional input, new fields of answers and new refusals break nothing.
import { isDeepStrictEqual } from 'node:util';
import { acceptanceProblems, type DocumentSchema } from './schema-acceptance.ts';

type Json = Readonly<Record<string, unknown>>;
type Content = Readonly<Record<string, { readonly schema: Json }>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Json;
}

interface Answer {
  readonly $ref?: string;
  readonly headers?: Readonly<
    Record<string, { readonly required?: boolean; readonly schema: Json }>
  >;
  readonly content?: Content;
}

interface Operation {
  readonly operationId: string;
  readonly security?: unknown;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
}

export interface OpenApi {
  readonly security?: unknown;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Answer>>;
    readonly schemas: Readonly<Record<string, Json>>;
  };
}

/** Two versions of one thing. */
interface Versions<Thing> {
  readonly released: Thing;
  readonly current: Thing;
}

/** Returns a line for each change that breaks a client of the released document. */
export function breakingChanges(documents: Versions<OpenApi>): readonly string[] {
  const { released, current } = documents;
  return Object.entries(released.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const now = current.paths[path]?.[method];
      if (now === undefined) return [`${name} is removed`];
      const changes = new OperationChanges(documents, { released: operation, current: now });
      return changes.all().map((line) => `${name}: ${line}`);
    }),
  );
}

class OperationChanges {
  readonly #documents: Versions<OpenApi>;
  readonly #operations: Versions<Operation>;

  constructor(documents: Versions<OpenApi>, operations: Versions<Operation>) {
    this.#documents = documents;
    this.#operations = operations;
  }

  all(): readonly string[] {
    return [
      ...this.#names(),
      ...this.#security(),
      ...this.#parameters(),
      ...this.#requestBody(),
      ...this.#answers(),
    ];
  }

  /** Generated clients have functions of these names. */
  #names(): readonly string[] {
    const { released, current } = this.#operations;
    return released.operationId === current.operationId
      ? []
      : [`is called ${current.operationId}, not ${released.operationId}`];
  }

  #security(): readonly string[] {
    const { released, current } = this.#documents;
    const before = this.#operations.released.security ?? released.security;
    const now = this.#operations.current.security ?? current.security;
    return isDeepStrictEqual(before, now) ? [] : ['has other security'];
  }

  #parameters(): readonly string[] {
    const { released, current } = this.#operations;
    const earlier = byName(released.parameters);
    const later = byName(current.parameters);
    const gone = [...earlier.keys()].filter((name) => !later.has(name));
    const changes = gone.map((name) => `${name} is removed`);
    for (const [name, parameter] of later) {
      const before = earlier.get(name);
      if (parameter.required === true && before?.required !== true)
        changes.push(`${name} is required`);
      if (before !== undefined)
        changes.push(...this.#request(parameter.schema, before.schema, name));
    }
    return changes;
  }

  #requestBody(): readonly string[] {
    const { released, current } = this.#operations;
    const [before, now] = [released.requestBody, current.requestBody];
    if (before === undefined) return now?.required === true ? ['the body is required'] : [];
    if (now === undefined) return ['the body is removed'];
    const changes =
      now.required === true && before.required !== true ? ['the body is required'] : [];
    for (const [type, { schema }] of Object.entries(before.content)) {
      const later = now.content[type];
      changes.push(
        ...(later === undefined
          ? [`the body is not ${type}`]
          : this.#request(later.schema, schema, 'body')),
      );
    }
    return changes;
  }

  #answers(): readonly string[] {
    const { released, current } = this.#operations;
    const changes: string[] = [];
    for (const [status, answer] of Object.entries(released.responses)) {
      const now = current.responses[status];
      if (now !== undefined) changes.push(...this.#answer(status, answer, now));
      else if (Number(status) < 400) changes.push(`${status} is removed`);
    }
    for (const status of Object.keys(current.responses))
      if (Number(status) < 400 && released.responses[status] === undefined)
        changes.push(`${status} is new`);
    return changes;
  }

  #answer(status: string, released: Answer, current: Answer): readonly string[] {
    const before = answerOf(released, this.#documents.released);
    const now = answerOf(current, this.#documents.current);
    const changes: string[] = [];
    for (const [name, { required }] of Object.entries(before.headers ?? {}))
      if (required === true && now.headers?.[name]?.required !== true)
        changes.push(`${status} has not always the header ${name}`);
    const types = [before, now].map(({ content = {} }) => Object.keys(content).toSorted());
    if (!isDeepStrictEqual(types[0], types[1])) return [...changes, `${status} has another body`];
    for (const [type, { schema }] of Object.entries(before.content ?? {})) {
      const given = { schema: now.content![type]!.schema, named: this.#named('current') };
      const accepting: DocumentSchema = { schema, named: this.#named('released') };
      changes.push(...acceptanceProblems(accepting, given, status));
    }
    return changes;
  }

  /** Returns why a request that was valid may be refused. */
  #request(current: Json, released: Json, path: string): readonly string[] {
    const accepting = { schema: current, named: this.#named('current') };
    return acceptanceProblems(
      accepting,
      { schema: released, named: this.#named('released') },
      path,
    );
  }

  #named(version: keyof Versions<unknown>): DocumentSchema['named'] {
    return this.#documents[version].components.schemas;
  }
}

function byName(parameters: readonly Parameter[] = []): ReadonlyMap<string, Parameter> {
  return new Map(parameters.map((each) => [`${each.in} parameter ${each.name}`, each]));
}

function answerOf(answer: Answer, { components }: OpenApi): Answer {
  const { $ref } = answer;
  return $ref === undefined
    ? answer
    : components.responses[$ref.slice('#/components/responses/'.length)]!;
}
