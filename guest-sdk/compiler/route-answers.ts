// RouteAnswers: the statuses that a route answers with: those that @answers declares, else those that the handler's
// return statements set. `PLAIN` stands for the status of a value whose handler sets none: 200, or 204 for Done.
import {
  CallExpression,
  FunctionExpression,
  IdentifierExpression,
  IntegerLiteralExpression,
  NewExpression,
  ParenthesizedExpression,
  PropertyAccessExpression,
  ReturnStatement,
  TernaryExpression,
  ThisExpression,
  type DecoratorNode,
  type Expression,
  type MethodDeclaration,
} from 'assemblyscript';
import { ANSWERS_MAX } from '@svc/contract';
import type { Problem } from './build-error.ts';
import { problemAt, textOf, typeArgument, type SdkNames } from './syntax.ts';
import { walk } from './syntax-walk.ts';

export const PLAIN = 0;
const STATUS_MIN = 200;
const STATUS_MAX = 599;
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([204, 205]);

export interface RouteAnswers {
  /** Statuses of @answers; undefined without the decorator. */
  readonly declared: readonly number[] | undefined;
  /** Statuses of the return statements, in order; undefined if these do not determine every status, or set too many. */
  readonly seen: readonly number[] | undefined;
}

export function readRouteAnswers(
  method: MethodDeclaration,
  decorator: DecoratorNode | undefined,
  names: SdkNames,
  problems: Problem[],
): RouteAnswers {
  const returns = new StatusReader(method, names);
  const declared = decorator && declaredStatuses(decorator, problems);
  const name = method.name.text;
  for (const { status, node } of returns.literals)
    if (status < STATUS_MIN || status > STATUS_MAX)
      problems.push(
        problemAt(
          node.range,
          `'${name}' answers ${status}, and a status is from ${STATUS_MIN} to ${STATUS_MAX}`,
          'as in .withStatus(201), or new Response<Cart>(cart, 201)',
        ),
      );
    else if (declared?.includes(status) === false)
      problems.push(
        problemAt(
          node.range,
          `'${name}' answers ${status}, which is not among the statuses that it declares`,
          `@answers(${[...declared, status].join(', ')})`,
        ),
      );
  if (decorator !== undefined && declared !== undefined && returns.showsPlain)
    problems.push(...plainProblems(method, decorator, declared, names));
  return { declared, seen: returns.all };
}

/**
 * Checks @answers for a value whose handler sets no status: a status below 300 must be declared, and the first of them
 * must be one with content unless the value is Done.
 */
function plainProblems(
  { name, signature: { returnType } }: MethodDeclaration,
  decorator: DecoratorNode,
  declared: readonly number[],
  names: SdkNames,
): Problem[] {
  const isDone = [returnType, typeArgument(returnType)].some(
    (type) => type !== undefined && names.of(type) === 'Done',
  );
  const plain = declared.find((status) => status < 300);
  if (plain === undefined) {
    const status = isDone ? 204 : 200;
    const message = `'${name.text}' answers ${status}, which is not among the statuses that it declares`;
    return [problemAt(decorator.range, message, `@answers(${[status, ...declared].join(', ')})`)];
  }
  if (isDone || !WITHOUT_CONTENT.has(plain)) return [];
  const message = `'${name.text}' answers its value with ${plain}, which has no content`;
  return [problemAt(decorator.range, message, 'return Done, or name a status with content first')];
}

/** Returns the declared status of a value whose handler sets none; undefined: 200, or 204 for Done. */
export function plainStatus({ declared = [] }: RouteAnswers): number | undefined {
  return declared.find((status) => status < 300);
}

function declaredStatuses(decorator: DecoratorNode, problems: Problem[]): number[] | undefined {
  const statuses = (decorator.args ?? []).map(literalOf);
  const isRight =
    statuses.length > 0 &&
    statuses.length <= ANSWERS_MAX &&
    new Set(statuses).size === statuses.length &&
    statuses.every(
      (status) => status !== undefined && status >= STATUS_MIN && status <= STATUS_MAX,
    );
  if (isRight) return statuses as number[];
  problems.push(
    problemAt(
      decorator.range,
      `@answers needs statuses from 200 to 599, each of them once and ${ANSWERS_MAX} at most`,
      '@answers(201), or @answers(200, 304)',
    ),
  );
  return undefined;
}

/** A status that a return statement sets as a literal. */
interface LiteralStatus {
  readonly status: number;
  readonly node: Expression;
}

/** Reads the statuses that the return statements of a handler set. */
class StatusReader {
  readonly literals: LiteralStatus[] = [];
  readonly #names: SdkNames;
  /** Whether the handler returns a Response, also in a Result: a Response can have its own status. */
  readonly #isResponse: boolean;
  readonly #isResult: boolean;
  readonly #statuses = new Set<number>();
  /** Whether the return statements determine every status. */
  #isWhole = true;
  #isPlainShown = false;

  constructor(method: MethodDeclaration, names: SdkNames) {
    this.#names = names;
    const returned = method.signature.returnType;
    const inner = typeArgument(returned);
    this.#isResult = names.of(returned) === 'Result';
    this.#isResponse =
      names.of(returned) === 'Response' ||
      (this.#isResult && inner !== undefined && names.of(inner) === 'Response');
    if (method.body === null) return;
    let given = 0;
    walk(method.body, (node, parents) => {
      if (node instanceof CallExpression && calledMember(node) === 'withStatus') given++;
      if (!(node instanceof ReturnStatement) || node.value === null) return;
      if (parents.some((parent) => parent instanceof FunctionExpression)) return;
      this.#read(node.value);
    });
    // A call that sets a status outside of a return statement may affect the returned value.
    if (given > this.literals.filter(({ node }) => node instanceof CallExpression).length)
      this.#isWhole = false;
  }

  get all(): readonly number[] | undefined {
    return this.#isWhole && this.#statuses.size <= ANSWERS_MAX ? [...this.#statuses] : undefined;
  }

  /** Whether a return statement certainly returns a value and sets no status. */
  get showsPlain(): boolean {
    return this.#isWhole && this.#isPlainShown;
  }

  #read(expression: Expression): void {
    if (expression instanceof ParenthesizedExpression) this.#read(expression.expression);
    else if (expression instanceof TernaryExpression) {
      this.#read(expression.ifThen);
      this.#read(expression.ifElse);
    } else if (expression instanceof NewExpression) this.#readNew(expression);
    else if (expression instanceof CallExpression) this.#readCall(expression);
    else this.#readOther();
  }

  #readNew(expression: NewExpression): void {
    if (this.#names.ofLocal(expression.typeName.identifier.text) !== 'Response') {
      this.#readOther();
      return;
    }
    const status = expression.args[1];
    if (status === undefined) this.#readPlain();
    else this.#readStatus(status, expression);
  }

  #readCall(call: CallExpression): void {
    const called = call.expression;
    if (called instanceof IdentifierExpression) {
      const name = this.#names.ofLocal(called.text);
      if (name === 'refuse') return;
      if (name === 'ok' && call.args[0] !== undefined) {
        if (!this.#isResponse) this.#isPlainShown = true;
        this.#read(call.args[0]);
      } else this.#readUnknownCall();
      return;
    }
    const member = calledMember(call);
    const object = called instanceof PropertyAccessExpression ? called.expression : undefined;
    if (member === 'refusedAs') return;
    if (member === 'header' && object !== undefined) this.#read(object);
    else if (member === 'withStatus' && call.args[0] !== undefined)
      this.#readStatus(call.args[0], call);
    else if (object === undefined || object instanceof ThisExpression) this.#readUnknownCall();
    else this.#readOther();
  }

  /** Notes a call of an author's function, whose result may have a status. */
  #readUnknownCall(): void {
    if (this.#isResult || this.#isResponse) this.#isWhole = false;
    else this.#readPlain();
  }

  #readOther(): void {
    if (this.#isResponse) this.#isWhole = false;
    else if (this.#isResult) this.#statuses.add(PLAIN);
    else this.#readPlain();
  }

  #readPlain(): void {
    this.#statuses.add(PLAIN);
    this.#isPlainShown = true;
  }

  #readStatus(expression: Expression, node: Expression): void {
    const status = literalOf(expression);
    if (status === undefined) {
      this.#isWhole = false;
      return;
    }
    this.#statuses.add(status);
    this.literals.push({ status, node });
  }
}

function calledMember({ expression }: CallExpression): string | undefined {
  return expression instanceof PropertyAccessExpression ? expression.property.text : undefined;
}

function literalOf(expression: Expression): number | undefined {
  if (!(expression instanceof IntegerLiteralExpression)) return undefined;
  return Number(textOf(expression).replaceAll('_', ''));
}
