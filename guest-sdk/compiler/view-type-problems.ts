// ViewTypeProblems: problems of views that entities and types reveal: unknown sources, methods with other types than the
// runtime calls them with, fields that no index can have, and queries that no index serves.
import { StringLiteralExpression, type Expression, type Range, type Type } from 'assemblyscript';
import {
  INDEXES_MAX,
  INDEX_FIELDS_MAX,
  fieldColumn,
  planViewQuery,
  recordOf,
  type TypeSchema,
} from '@svc/contract';
import { didYouMean } from '@svc/contract/suggestion';
import { classOf, resolve } from './resolved-types.ts';
import { displayName, type SchemaBuilder } from './schema-of-type.ts';
import {
  eventOfSource,
  sdkClass,
  signatureOfSource,
  takesEvent,
  type SourceCheck,
} from './source-type-problems.ts';
import { quote, textOf } from './syntax.ts';
import { rowText, type ViewClass, type ViewSource } from './view-declaration.ts';

/** Context of the check of one view. */
interface ViewCheck extends SourceCheck {
  readonly schemas: SchemaBuilder;
}

export function checkView(check: ViewCheck, view: ViewClass): void {
  const { program, reference, schemas, report } = check;
  const row = view.row && resolve(program, view.row, reference);
  const rowClass = row?.getClass();
  if (row === undefined) return;
  const data = rowClass ? schemas.dataOf(rowClass) : undefined;
  if (data?.kind !== 'record' || row.isNullableReference) {
    const message = `the row '${displayName(row)}' must be a @data class with fields of its own`;
    report(view.row!.range, message, 'a row is stored as JSON, and indexes are of its fields');
    return;
  }
  for (const source of [...view.folds, ...view.keys]) checkSource(check, view, source, row);
  const schema = schemas.schema(row, view.row!.range);
  checkIndexes(check, view, schema);
  checkQueries(check, view, schema);
}

function checkSource(check: ViewCheck, view: ViewClass, source: ViewSource, row: Type): void {
  const event = eventOfSource(check, `view '${view.name}'`, source);
  const signature = event && signatureOfSource(check, source);
  if (event === undefined || signature === undefined) return;
  const { parameters, returned } = signature;
  const [first] = parameters;
  const isFold = source.kind === 'from';
  const rowFits = !isFold || (first?.isNullableReference === true && first.nonNullableType === row);
  const eventFits = takesEvent(isFold ? parameters.slice(1) : parameters, event);
  if (rowFits && eventFits && isReturned(source, returned, row)) return;
  const rowParameter = isFold ? `row: ${rowText(view)} | null, ` : '';
  const result = isFold ? `RowChange<${rowText(view)}>` : 'string[]';
  check.report(
    source.method.name.range,
    `'${source.method.name.text}' of view '${view.name}' has other parameters or another type than the runtime calls it with`,
    `write ${source.method.name.text}(${rowParameter}event: ${displayName(event)}, context: EventContext): ${result}`,
  );
}

function isReturned({ kind }: ViewSource, returned: Type | undefined, row: Type): boolean {
  if (returned === undefined || returned.isNullableReference) return false;
  const [item] = returned.getClass()?.typeArguments ?? [];
  if (kind === 'from') return sdkClass(returned) === 'view/RowChange' && item === row;
  const isArray = returned.getClass()?.prototype.internalName === '~lib/array/Array';
  return (
    isArray &&
    item?.getClass()?.prototype.internalName === '~lib/string/String' &&
    !item.isNullableReference
  );
}

function checkIndexes({ schemas, report }: ViewCheck, view: ViewClass, schema: TypeSchema): void {
  const row = recordOf(schema, schemas.types);
  if (row === undefined) return;
  const before = new Set<string>();
  for (const [at, { fields, decorator }] of view.indexes.entries()) {
    if (at === INDEXES_MAX)
      report(decorator.range, `view '${view.name}' has more than ${INDEXES_MAX} indexes`);
    if (fields.length > INDEX_FIELDS_MAX)
      report(decorator.range, `an index has at most ${INDEX_FIELDS_MAX} fields`);
    const text = JSON.stringify(fields);
    if (before.has(text))
      report(decorator.range, 'the index is declared twice: remove one of them');
    before.add(text);
    for (const [index, field] of fields.entries()) {
      const { range } = decorator.args![index]!;
      if (fields.indexOf(field) < index)
        report(range, `the field '${field}' stands twice in the index`);
      const column = fieldColumn(row, field, schemas.types);
      if (column.ok) continue;
      const isField = Object.hasOwn(row.properties, field);
      report(
        range,
        `no index can have '${field}': it ${isField ? column.problem : `is no field of '${rowText(view)}'.${didYouMean(field, Object.keys(row.properties).slice(0, 100))}`}`,
      );
    }
  }
}

/** Plans the queries of the view as the host does. */
function checkQueries(
  { program, schemas, declarations, report }: ViewCheck,
  view: ViewClass,
  row: TypeSchema,
): void {
  const indexes = view.indexes.map(({ fields }) => fields);
  for (const { declaration, decorator, view: id, where, name } of declarations.queries) {
    const reference = id === view.id ? classOf(program, declaration) : undefined;
    if (reference === undefined) continue;
    const parameters = schemas.schema(reference.type, declaration.name.range);
    const planned = planViewQuery(where, parameters, { row, indexes }, schemas.types);
    if (planned.ok) continue;
    const { message, offset } = planned.problem;
    const [, missing] = /: declare the index (\[.*\])$/.exec(message) ?? [];
    const fields = missing === undefined ? undefined : (JSON.parse(missing) as string[]);
    report(
      rangeIn(decorator.args![2]!, where, offset),
      `the query '${name}' of view '${id}': ${fields === undefined ? message : 'no index serves it'}`,
      fields === undefined
        ? undefined
        : `write @index(${fields.map(quote).join(', ')}) before the class '${view.name}'`,
    );
  }
}

/** Returns the rest of a text from an offset; the whole text if its source has escapes. */
function rangeIn(node: Expression, text: string, offset: number | undefined): Range {
  const { range } = node;
  const isPlain = node instanceof StringLiteralExpression && textOf(node).slice(1, -1) === text;
  if (offset === undefined || !isPlain) return range;
  const part = range.atStart;
  part.start = range.start + 1 + offset;
  part.end = range.end - 1;
  return part;
}
