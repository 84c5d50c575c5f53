// FieldAliases: former names under which a field is still read. It is written under its own name.
import type { FieldDeclaration } from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { decoratorOf, problemAt, stringArguments } from './syntax.ts';

/** The parts of a field that are checked. */
interface AliasedField {
  readonly name: string;
  readonly node: FieldDeclaration;
  readonly aliases: readonly string[];
}

/** Matches the names that a field may have in a descriptor. */
// oxlint-disable-next-line no-control-regex -- a control character is what it refuses
const FIELD_NAME = /^[^\u0000-\u001f\u007f-\u009f]{1,200}$/u;
const ALIASES_MAX = 100;

/** Reads the names of the field's `@alias`, in order. */
export function readAliases(field: FieldDeclaration, problems: Problem[]): readonly string[] {
  const decorator = decoratorOf(field, 'alias');
  if (decorator === undefined) return [];
  const names = stringArguments(decorator) ?? [];
  if (names.length === 0 || names.length > ALIASES_MAX)
    problems.push(
      problemAt(
        decorator.range,
        '@alias needs the names that the field had before, as strings',
        '@alias("fee"), or several: @alias("fee", "price")',
      ),
    );
  for (const name of names)
    if (!FIELD_NAME.test(name) || !name.isWellFormed())
      problems.push(
        problemAt(
          decorator.range,
          `the alias ${JSON.stringify(name)} cannot be the name of a field`,
          'write the name that the field had: 1 to 200 characters, none of them a control character',
        ),
      );
  return names;
}

/**
 * Returns the problems. `own`: fields of the class itself, whose problems are reported; `fields`: with the inherited
 * ones.
 */
export function aliasProblems(
  own: readonly AliasedField[],
  fields: readonly AliasedField[],
  isCase: boolean,
): Problem[] {
  const problems: Problem[] = [];
  const meanings = new Map(fields.map(({ name }) => [name, `the name of the field '${name}'`]));
  if (isCase) meanings.set('type', 'the field that holds the name of the case');
  // Inherited fields come first, as in the object.
  for (const field of [...fields.filter((one) => !own.includes(one)), ...own])
    for (const alias of field.aliases) {
      const meaning = meanings.get(alias);
      if (meaning === undefined) meanings.set(alias, `an alias of the field '${field.name}'`);
      else if (own.includes(field))
        problems.push(
          problemAt(
            decoratorOf(field.node, 'alias')!.range,
            `the alias '${alias}' of field '${field.name}' is ${meaning}`,
            'a name is read as one field: remove it here or there',
          ),
        );
    }
  return problems;
}
