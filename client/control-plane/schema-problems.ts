// SchemaProblems: every problem of a value by its schema (schema.ts), in the form that a descriptor's problems have.
import { Problems, charactersOf, isRecord, quoted, type Problem } from '../descriptor/problem.ts';
import { REFUSED, type Schema } from './schema.ts';

type Node = Readonly<Record<string, unknown>>;

/** Returns the problems of a value, sorted by path; none if the value has the type of the schema. */
export function schemaProblems(schema: Schema<unknown>, value: unknown): readonly Problem[] {
  const problems = new Problems();
  check(schema, value, problems);
  return problems.sorted();
}

function check(schema: Node, value: unknown, problems: Problems): void {
  // The schema of a value that may be null (`nullable`).
  const [inner] = (schema['anyOf'] ?? []) as readonly Node[];
  if (inner !== undefined) {
    if (value !== null) check(inner, value, problems);
    return;
  }
  switch (schema['type']) {
    case 'object':
      checkObject(schema, value, problems);
      break;
    case 'string':
      checkText(schema, value, problems);
      break;
    case 'integer':
      checkInteger(schema, value, problems);
      break;
    case 'array':
      checkList(schema, value, problems);
      break;
    case 'boolean':
      if (typeof value !== 'boolean') problems.add('is not true or false');
      break;
    default:
      throw new TypeError(`schemaProblems does not know the type ${String(schema['type'])}`);
  }
}

function checkObject(schema: Node, value: unknown, problems: Problems): void {
  if (!isRecord(value)) {
    problems.add('is not an object');
    return;
  }
  const properties = schema['properties'] as Readonly<Record<string, Node>>;
  const others = schema['additionalProperties'] as Node | false | undefined;
  for (const name of schema['required'] as readonly string[])
    if (value[name] === undefined) problems.at(name).add('is missing');
  for (const [name, content] of Object.entries(value)) {
    if (content === undefined) continue;
    if (Object.hasOwn(properties, name)) check(properties[name]!, content, problems.at(name));
    else if (typeof others === 'object') check(others, content, problems.at(name));
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined && others === false)
    problems.add(
      `has the unknown field ${quoted(unknown)}: the fields are ${Object.keys(properties).join(', ')}`,
    );
}

function checkList(schema: Node, value: unknown, problems: Problems): void {
  const { items, maxItems = Infinity } = schema as { items: Node; maxItems?: number };
  if (!Array.isArray(value)) problems.add('is not a list');
  else if (value.length > maxItems)
    problems.add(`has ${value.length} items, and may have ${maxItems}`);
  else for (const [index, item] of value.entries()) check(items, item, problems.at(index));
}

function checkText(schema: Node, value: unknown, problems: Problems): void {
  const words = schema['enum'] as readonly string[] | undefined;
  const {
    minLength = 0,
    maxLength = Infinity,
    pattern,
    [REFUSED]: refused,
  } = schema as {
    minLength?: number;
    maxLength?: number;
    pattern?: string;
    [REFUSED]?: RegExp;
  };
  if (typeof value !== 'string') problems.add('is not a text');
  else if (words !== undefined) {
    if (!words.includes(value)) problems.add(`is ${quoted(value)}: use ${words.join(' or ')}`);
  } else if (value === '' && minLength > 0) problems.add('is empty');
  // A character has two units of a string at most.
  else if (value.length > 2 * maxLength || charactersOf(value) > maxLength)
    problems.add(`is longer than ${maxLength} characters`);
  else if (
    charactersOf(value) < minLength ||
    (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) ||
    refused?.test(value) === true
  )
    problems.add(`is ${quoted(value)}, which is no ${String(schema['description'])}`);
}

function checkInteger(schema: Node, value: unknown, problems: Problems): void {
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = schema as {
    minimum: number;
    maximum?: number;
  };
  if (!Number.isSafeInteger(value) || (value as number) < minimum || (value as number) > maximum)
    problems.add(`is not a whole number from ${minimum} to ${maximum}`);
}
