// ViewDeclaration: reads a @view class, and the @data classes that are the parameters of its queries, from the syntax tree.
import {
  StringLiteralExpression,
  type ClassDeclaration,
  type DecoratorNode,
  type TypeNode,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { WIRE_NAME, writtenNameClashes } from './entity-declaration.ts';
import { readSourceMethods, type SourceMethod } from './source-methods.ts';
import {
  constructorProblem,
  decoratorName,
  decoratorOf,
  problemAt,
  stringArguments,
  textOf,
  typeArgument,
  type SdkNames,
} from './syntax.ts';

/** A method of a view that gets the events of a component: @from folds them, @keys names the rows that they concern. */
export type ViewSource = SourceMethod<'from' | 'keys'>;

const VERSION = /^\P{Cc}{1,100}$/u;
const FORMS = {
  from: {
    before: 1,
    example: '(row: Row | null, event: OrderEvent, context: EventContext): RowChange<Row>',
  },
  keys: { before: 0, example: '(event: OrderEvent, context: EventContext): string[]' },
} as const;

export interface ViewIndex {
  readonly fields: readonly string[];
  readonly decorator: DecoratorNode;
}

export interface ViewClass {
  readonly declaration: ClassDeclaration;
  readonly name: string;
  readonly id: string;
  /** Version of its code that the author gives; undefined: a hash of the sources stands for it. */
  readonly version: string | undefined;
  /** `R` of `View<R>`. */
  readonly row: TypeNode | undefined;
  readonly indexes: readonly ViewIndex[];
  /** Methods of @from, in the order of the source. */
  readonly folds: readonly ViewSource[];
  /** Methods of @keys. */
  readonly keys: readonly ViewSource[];
}

/** A @data class with @find: the parameters of a query. */
export interface ViewQueryClass {
  readonly declaration: ClassDeclaration;
  readonly decorator: DecoratorNode;
  /** Id of the view. */
  readonly view: string;
  /** Name of the query. */
  readonly name: string;
  readonly where: string;
}

export function readView(
  declaration: ClassDeclaration,
  role: DecoratorNode,
  names: SdkNames,
  problems: Problem[],
): ViewClass {
  const name = declaration.name.text;
  const report = (
    node: { readonly range: DecoratorNode['range'] },
    message: string,
    help: string,
  ) => problems.push(problemAt(node.range, message, help));
  const badConstructor = constructorProblem(declaration);
  if (badConstructor !== undefined) problems.push(badConstructor);
  const [id = '', version, ...more] = stringArguments(role) ?? [];
  if (!WIRE_NAME.test(id))
    report(
      role,
      '@view needs the id of the view',
      "@view(\"orders\"), of letters, digits, '.', '_', '-', beginning with a letter",
    );
  if (more.length > 0 || (version !== undefined && !VERSION.test(version)))
    report(
      role,
      'the version of a view is one text of 1 to 100 characters',
      '@view("orders", "2"); without a version, the rows are folded again when the code of the view changes',
    );
  const base = declaration.extendsType;
  const row = base === null ? undefined : typeArgument(base);
  if (base === null || names.of(base) !== 'View' || row === undefined)
    report(
      declaration.name,
      `view '${name}' must extend View<Row> of @svc/guest-sdk`,
      'import { View } from "@svc/guest-sdk"; the row is a @data class',
    );
  if ((declaration.typeParameters?.length ?? 0) > 0)
    problems.push(problemAt(declaration.name.range, `view '${name}' cannot have type parameters`));
  problems.push(...writtenNameClashes(declaration, ['Client']));
  const sources = readSourceMethods(declaration, 'a view', FORMS, problems);
  const folds = sources.filter(({ kind }) => kind === 'from');
  if (sources.length === 0)
    report(
      declaration.name,
      `view '${name}' has no @from: it would have no rows`,
      'add @from("order") onOrder(row: Row | null, event: OrderEvent, context: EventContext): RowChange<Row> { … }',
    );
  const keys = sources.filter(({ kind }) => kind === 'keys');
  for (const { component, decorator } of keys)
    if (!folds.some((fold) => fold.component === component))
      report(
        decorator,
        `view '${name}' has keys for '${component}', and folds none of its events`,
        `add a method @from("${component}"), or remove this one`,
      );
  return {
    declaration,
    name,
    id,
    version,
    row,
    indexes: readIndexes(declaration, problems),
    folds,
    keys,
  };
}

function readIndexes(declaration: ClassDeclaration, problems: Problem[]): ViewIndex[] {
  return (declaration.decorators ?? [])
    .filter((one) => decoratorName(one) === 'index')
    .map((decorator) => {
      const fields = stringArguments(decorator) ?? [];
      if (fields.length === 0)
        problems.push(
          problemAt(
            decorator.range,
            '@index needs the names of fields of the row, as strings',
            '@index("customer", "placedAt")',
          ),
        );
      return { fields, decorator };
    });
}

/** Reads @find of a class; undefined if the class has none. */
export function readViewQuery(
  declaration: ClassDeclaration,
  problems: Problem[],
): ViewQueryClass | undefined {
  const decorator = decoratorOf(declaration, 'find');
  if (decorator === undefined) return undefined;
  const [view = '', name = '', where = ''] = stringArguments(decorator) ?? [];
  const isWhole = decorator.args?.length === 3 && WIRE_NAME.test(view) && WIRE_NAME.test(name);
  if (!isWhole || decorator.args?.some((one) => !(one instanceof StringLiteralExpression)) === true)
    problems.push(
      problemAt(
        decorator.range,
        '@find needs the id of a view, the name of the query, and the query',
        '@find("orders", "of-customer", "customer = :customer order by placedAt desc"); an empty query finds all rows',
      ),
    );
  if ((declaration.typeParameters?.length ?? 0) > 0)
    problems.push(
      problemAt(
        declaration.name.range,
        `'${declaration.name.text}' has the parameters of a query, and cannot have type parameters`,
      ),
    );
  return { declaration, decorator, view, name, where };
}

/** Returns the name of the client's method: `of-customer` becomes `ofCustomer`. */
export function methodNameOf({ name }: ViewQueryClass): string {
  return name.replaceAll(/[._-]+(.?)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Returns the name of the client's method that counts the rows: that of `of-customer` is `countOfCustomer`. */
export function countMethodOf(query: ViewQueryClass): string {
  const method = methodNameOf(query);
  return `count${method.charAt(0).toUpperCase()}${method.slice(1)}`;
}

/** Returns the text of the type of the rows. */
export function rowText({ row }: ViewClass): string {
  return row === undefined ? '' : textOf(row);
}
