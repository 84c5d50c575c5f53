// ViewQuery: the parsed text of a view's query, such as `customer = :customer and placedAt >= :since order by placedAt
// desc`. Parsing knows no view: the planner (view-query-planner.ts) checks names, types and indexes.
//
//   query      = [ condition { "and" condition } ] [ "order" "by" column [ "asc" | "desc" ] ]
//   condition  = column ( "=" | "<" | "<=" | ">" | ">=" | "starts" "with" ) parameter
//   column     = name            `key` without quotes is the key of the row; every other name is a field
//   parameter  = ":" name        without a space between them
//   name       = identifier of JavaScript | '"' { any character but a control, '""' for a quote } '"'
//
// The words of the language are read in any case of letters, and none is reserved: a field may be named `order`.
import { VIEW_QUERY_LENGTH_MAX } from './view-limits.ts';
import {
  type ComparisonOperator,
  type ViewQueryProblem,
  type ViewQueryToken,
  viewQueryTokens,
  writtenName,
} from './view-query-token.ts';

export interface ViewQuery {
  readonly conditions: readonly ViewQueryCondition[];
  readonly order?: ViewQueryOrder | undefined;
}

export type ViewQueryColumn =
  | { readonly kind: 'key' }
  | { readonly kind: 'field'; readonly name: string };

export interface ViewQueryCondition {
  readonly column: ViewQueryColumn;
  readonly operator: ComparisonOperator | 'starts with';
  readonly parameter: string;
  /** Positions of the column and of the parameter in the text, in UTF-16 code units from 0. */
  readonly offset: number;
  readonly parameterOffset: number;
}

export interface ViewQueryOrder {
  readonly column: ViewQueryColumn;
  readonly descending: boolean;
  /** Position of the column in the text, in UTF-16 code units from 0. */
  readonly offset: number;
}

type Parsed<Content> =
  | { readonly ok: true; readonly content: Content; readonly end: number }
  | { readonly ok: false; readonly problem: ViewQueryProblem };

/** Parses the text of a query. An empty text, or an order alone, stands for all rows. */
export function parseViewQuery(text: string): ViewQuery | ViewQueryProblem {
  if (text.length > VIEW_QUERY_LENGTH_MAX)
    return { message: `the query has more than ${VIEW_QUERY_LENGTH_MAX} characters` };
  const tokens = viewQueryTokens(text);
  if ('message' in tokens) return tokens;
  const conditions = conditionsOf(tokens);
  if (!conditions.ok) return conditions.problem;
  const order = orderAt(tokens, conditions.end);
  if (!order.ok) return order.problem;
  const after = tokens[order.end]!;
  if (after.kind !== 'end')
    return {
      message:
        order.content === undefined
          ? `${shown(after)} cannot follow a condition: write 'and' and another condition, or 'order by'`
          : `${shown(after)} cannot follow the order: a query has one order, by one field or the key`,
      offset: after.offset,
    };
  return { conditions: conditions.content, order: order.content };
}

function conditionsOf(tokens: readonly ViewQueryToken[]): Parsed<readonly ViewQueryCondition[]> {
  const conditions: ViewQueryCondition[] = [];
  if (tokens[0]!.kind === 'end' || isOrder(tokens, 0))
    return { ok: true, content: conditions, end: 0 };
  let at = 0;
  for (;;) {
    const condition = conditionAt(tokens, at);
    if (!condition.ok) return condition;
    conditions.push(condition.content);
    at = condition.end;
    if (!isWord(tokens[at], 'and')) return { ok: true, content: conditions, end: at };
    at++;
  }
}

function conditionAt(tokens: readonly ViewQueryToken[], at: number): Parsed<ViewQueryCondition> {
  const column = tokens[at]!;
  if (column.kind !== 'name')
    return refused(column, `expected the name of a field or 'key', and found ${shown(column)}`);
  const comparison = tokens[at + 1]!;
  const isPrefix = isWord(comparison, 'starts') && isWord(tokens[at + 2], 'with');
  if (!isPrefix && comparison.kind !== 'comparison')
    return refused(
      comparison,
      `expected =, <, <=, >, >= or 'starts with' after ${shown(column)}, and found ${shown(comparison)}`,
    );
  const operator = comparison.kind === 'comparison' ? comparison.operator : 'starts with';
  const end = at + (isPrefix ? 3 : 2);
  const parameter = tokens[end]!;
  if (parameter.kind !== 'parameter')
    return refused(
      parameter,
      `expected a parameter such as :${writtenName(column.text)} after '${operator}', and found ${shown(parameter)}: ` +
        'values are given by parameters only',
    );
  const { name, offset: parameterOffset } = parameter;
  return {
    ok: true,
    content: {
      column: columnOf(column),
      operator,
      parameter: name,
      offset: column.offset,
      parameterOffset,
    },
    end: end + 1,
  };
}

function orderAt(
  tokens: readonly ViewQueryToken[],
  at: number,
): Parsed<ViewQueryOrder | undefined> {
  if (!isOrder(tokens, at)) return { ok: true, content: undefined, end: at };
  const column = tokens[at + 2]!;
  if (column.kind !== 'name')
    return refused(
      column,
      `expected the name of a field or 'key' after 'order by', and found ${shown(column)}`,
    );
  const direction = tokens[at + 3];
  const descending = isWord(direction, 'desc');
  const end = at + (descending || isWord(direction, 'asc') ? 4 : 3);
  return {
    ok: true,
    content: { column: columnOf(column), descending, offset: column.offset },
    end,
  };
}

function isOrder(tokens: readonly ViewQueryToken[], at: number): boolean {
  return isWord(tokens[at], 'order') && isWord(tokens[at + 1], 'by');
}

/** Returns whether the token is a word of the language, in any case of letters and without quotes. */
function isWord(token: ViewQueryToken | undefined, word: string): boolean {
  return token?.kind === 'name' && !token.isQuoted && token.text.toLowerCase() === word;
}

function columnOf(token: Extract<ViewQueryToken, { readonly kind: 'name' }>): ViewQueryColumn {
  return token.text === 'key' && !token.isQuoted
    ? { kind: 'key' }
    : { kind: 'field', name: token.text };
}

function refused({ offset }: ViewQueryToken, message: string) {
  return { ok: false, problem: { message, offset } } as const;
}

function shown(token: ViewQueryToken): string {
  switch (token.kind) {
    case 'name':
      return `'${token.text}'`;
    case 'parameter':
      return `':${token.name}'`;
    case 'comparison':
      return `'${token.operator}'`;
    case 'other':
      return `'${token.text.slice(0, 20)}'`;
    case 'end':
    default:
      return 'the end';
  }
}
