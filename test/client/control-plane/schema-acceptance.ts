// SchemaAcceptance: whether one JSON Schema accepts every value of another, by comparing their keywords.
//
// Invariant: no reason means that every value is accepted. The opposite does not hold: two patterns, for example, accept the same only
// if they are the same text. A keyword that is not known is an error.
import { isDeepStrictEqual } from 'node:util';

type Node = Readonly<Record<string, unknown>>;
type SchemaNode = Node | boolean;

/** A schema, and the schemas by their names to which it refers. */
export interface DocumentSchema {
  readonly schema: SchemaNode;
  readonly named: Readonly<Record<string, Node>>;
}

const UPPER_LIMITS = ['maxLength', 'maximum', 'maxItems', 'maxProperties'];
const LOWER_LIMITS = ['minLength', 'minimum', 'minItems'];
/** Keywords of which it is unknown whether another value accepts more. */
const OPAQUE = ['pattern', 'format', 'not', 'uniqueItems'];
const ANNOTATIONS = ['title', 'description', 'examples'];
const STRUCTURAL = [
  'type',
  'enum',
  'const',
  'properties',
  'required',
  'additionalProperties',
  'propertyNames',
  'items',
  'anyOf',
  'allOf',
  'if',
  'then',
];
const KNOWN = new Set([...UPPER_LIMITS, ...LOWER_LIMITS, ...OPAQUE, ...ANNOTATIONS, ...STRUCTURAL]);

/** Returns why the first schema may not accept each value of the second one, with the path to the part of the value. */
export function acceptanceProblems(
  accepting: DocumentSchema,
  given: DocumentSchema,
  path: string,
): readonly string[] {
  return new Comparison(accepting.named, given.named).problems(
    accepting.schema,
    given.schema,
    path,
  );
}

class Comparison {
  readonly #acceptingNamed: DocumentSchema['named'];
  readonly #givenNamed: DocumentSchema['named'];

  constructor(acceptingNamed: DocumentSchema['named'], givenNamed: DocumentSchema['named']) {
    this.#acceptingNamed = acceptingNamed;
    this.#givenNamed = givenNamed;
  }

  problems(left: SchemaNode, right: SchemaNode, path: string): readonly string[] {
    const accepting = resolved(left, this.#acceptingNamed);
    const given = resolved(right, this.#givenNamed);
    if (accepting === true || given === false) return [];
    if (accepting === false) return [`${path} may not be there`];
    if (given === true) return [`${path} is restricted`];
    return [
      ...this.#alternatives(accepting, given, path),
      ...valueProblems(accepting, given, path),
      ...limitProblems(accepting, given, path),
      ...this.#objects(accepting, given, path),
      ...this.#rules(accepting, given, path),
      ...this.#part('items', accepting, given, `${path}[]`),
      ...this.#part('propertyNames', accepting, given, `${path}{name}`),
    ];
  }

  /** Compares the schemas of a keyword. Without the keyword, every value is accepted. */
  #part(keyword: string, accepting: Node, given: Node, path: string): readonly string[] {
    const [left = true, right = true] = [accepting[keyword], given[keyword]] as SchemaNode[];
    return this.problems(left, right, path);
  }

  #alternatives(accepting: Node, given: Node, path: string): readonly string[] {
    const options = accepting['anyOf'] as readonly SchemaNode[] | undefined;
    if (options === undefined) return [];
    const values = (given['anyOf'] as readonly SchemaNode[] | undefined) ?? [given];
    const isAccepted = (value: SchemaNode) =>
      options.some((option) => this.problems(option, value, path).length === 0);
    return values.every(isAccepted) ? [] : [`${path} has other alternatives`];
  }

  #objects(accepting: Node, given: Node, path: string): readonly string[] {
    const left = (accepting['properties'] ?? {}) as Readonly<Record<string, SchemaNode>>;
    const right = (given['properties'] ?? {}) as Readonly<Record<string, SchemaNode>>;
    const problems: string[] = [];
    for (const name of Object.keys({ ...left, ...right }))
      problems.push(
        ...this.problems(
          left[name] ?? others(accepting),
          right[name] ?? others(given),
          `${path}.${name}`,
        ),
      );
    problems.push(...this.problems(others(accepting), others(given), `${path}.*`));
    const required = new Set((given['required'] ?? []) as readonly string[]);
    for (const name of (accepting['required'] ?? []) as readonly string[])
      if (!required.has(name)) problems.push(`${path}.${name} is required`);
    return problems;
  }

  /** Compares the rules of `allOf`: those with conditions by their consequences, and others as they are. */
  #rules(accepting: Node, given: Node, path: string): readonly string[] {
    const right = (given['allOf'] ?? []) as readonly Node[];
    return ((accepting['allOf'] ?? []) as readonly Node[]).flatMap((rule) => {
      const same = right.find(
        (each) => isDeepStrictEqual(each, rule) || isDeepStrictEqual(each['if'], rule['if'] ?? {}),
      );
      if (same === undefined) return [`${path} has another rule`];
      if (rule['if'] === undefined) return [];
      const consequence = withoutForeign(rule['then'] as Node, given);
      return this.problems(consequence, same['then'] as Node, path);
    });
  }
}

/** Returns the consequence of a rule without what it says of members that no given value has. */
function withoutForeign(consequence: Node, { properties, additionalProperties }: Node): Node {
  const about = (consequence['properties'] ?? {}) as Node;
  if (additionalProperties !== false) return consequence;
  const own = Object.entries(about).filter(([name]) => Object.hasOwn(properties as Node, name));
  return { ...consequence, properties: Object.fromEntries(own) };
}

/** Returns the schema of the members that have none of their own. */
function others(schema: Node): SchemaNode {
  return (schema['additionalProperties'] as SchemaNode | undefined) ?? true;
}

function valueProblems(accepting: Node, given: Node, path: string): readonly string[] {
  const problems: string[] = [];
  const [type, givenType] = [accepting['type'], given['type']] as (string | undefined)[];
  if (type !== undefined && type !== givenType && !('const' in given || 'enum' in given))
    problems.push(`${path} is of the type ${type}, not ${givenType ?? 'any'}`);
  const words = wordsOf(accepting);
  const givenWords = wordsOf(given);
  if (words !== undefined) {
    const refused = givenWords?.filter((word) => !words.includes(word));
    if (refused === undefined) problems.push(`${path} takes only ${words.join(', ')}`);
    else if (refused.length > 0) problems.push(`${path} does not take ${refused.join(', ')}`);
  }
  for (const keyword of OPAQUE)
    if (accepting[keyword] !== undefined && !isDeepStrictEqual(accepting[keyword], given[keyword]))
      problems.push(`${path} has another ${keyword}`);
  return problems;
}

function wordsOf(schema: Node): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']];
  return schema['enum'] as readonly unknown[] | undefined;
}

function limitProblems(accepting: Node, given: Node, path: string): readonly string[] {
  const isTighter = (keyword: string, sign: 1 | -1) => {
    const limit = accepting[keyword] as number | undefined;
    if (limit === undefined) return false;
    const other = given[keyword] as number | undefined;
    return other === undefined || sign * other > sign * limit;
  };
  return [
    ...UPPER_LIMITS.filter((keyword) => isTighter(keyword, 1)),
    ...LOWER_LIMITS.filter((keyword) => isTighter(keyword, -1)),
  ].map((keyword) => `${path} has the ${keyword} ${String(accepting[keyword])}`);
}

/** Returns the schema to which another one refers. Throws for keywords that the comparison does not know. */
function resolved(schema: SchemaNode, named: DocumentSchema['named']): SchemaNode {
  if (typeof schema === 'boolean') return schema;
  const { $ref } = schema;
  if (typeof $ref === 'string') {
    const target = named[$ref.slice('#/components/schemas/'.length)];
    if (target === undefined) throw new TypeError(`there is no schema ${$ref}`);
    return resolved(target, named);
  }
  const unknown = Object.keys(schema).find((keyword) => !KNOWN.has(keyword));
  if (unknown !== undefined) throw new TypeError(`the comparison does not know ${unknown}`);
  return schema;
}
