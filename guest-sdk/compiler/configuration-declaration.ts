// ConfigurationDeclaration: the @configuration class of a module, whose fields are the values that an operator gives. It is a data
// class without cases. A field with an initialiser may be left out, and a @secret field is a text without one.
import type { ClassDeclaration, DecoratorNode, FieldDeclaration } from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { ABSTRACT, decoratorName, decoratorOf, has, problemAt } from './syntax.ts';

export interface ConfigurationClass {
  readonly declaration: ClassDeclaration;
  readonly name: string;
  /** Names of the @secret fields. */
  readonly secrets: readonly string[];
}

/** A data class, as far as it is read here. */
interface DataFields {
  readonly declaration: ClassDeclaration;
  readonly name: string;
  readonly fields: readonly {
    readonly name: string;
    readonly node: FieldDeclaration;
    readonly type: string;
    readonly initializer: string | undefined;
    readonly isPatch: boolean;
  }[];
}

/**
 * Returns the module's configuration after a data class: `before`, unless the class is the first with @configuration. Reports
 * what a configuration cannot be.
 */
export function readConfiguration(
  { declaration, name, fields }: DataFields,
  role: DecoratorNode,
  before: ConfigurationClass | undefined,
  problems: Problem[],
): ConfigurationClass | undefined {
  if (decoratorName(role) !== 'configuration') return before;
  if (before !== undefined) {
    const message = `a module has one configuration, and '${before.name}' is it`;
    problems.push(problemAt(role.range, message, `move the fields of '${name}' into it`));
    return before;
  }
  if ((role.args?.length ?? 0) > 0)
    problems.push(problemAt(role.range, '@configuration takes no arguments'));
  if (has(declaration, ABSTRACT) || (declaration.typeParameters?.length ?? 0) > 0)
    problems.push(
      problemAt(
        declaration.name.range,
        `configuration '${name}' cannot be abstract or have type parameters: the runtime makes its object`,
      ),
    );
  const secrets: string[] = [];
  for (const { name: field, node, type, initializer, isPatch } of fields) {
    if (isPatch)
      problems.push(
        problemAt(
          node.range,
          `field '${field}' of a configuration cannot be a patch`,
          `write a default for a value that may be left out: ${field}: string = "…"`,
        ),
      );
    if (decoratorOf(node, 'secret') === undefined) continue;
    secrets.push(field);
    problems.push(...secretProblems(field, node, type, initializer));
  }
  return { declaration, name, secrets };
}

function secretProblems(
  field: string,
  node: FieldDeclaration,
  type: string,
  initializer: string | undefined,
): Problem[] {
  const plain = type.replace(/ *\| *null$/, '');
  if (plain !== 'string')
    return [
      problemAt(
        node.range,
        `@secret field '${field}' is a string, not '${type}': the log replaces its text`,
      ),
    ];
  if (initializer === undefined || initializer === 'null') return [];
  return [
    problemAt(
      node.range,
      `@secret field '${field}' cannot have a default: everyone who has the module could read it`,
      'remove the default, and give the value where the module runs',
    ),
  ];
}
