// ConsumerDeclaration: reads a @consumer class from the syntax tree.
import {
  IdentifierExpression,
  PropertyAccessExpression,
  StringLiteralExpression,
  type ClassDeclaration,
  type DecoratorNode,
  type Expression,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { WIRE_NAME } from './entity-declaration.ts';
import { readSourceMethods, type SourceMethod } from './source-methods.ts';
import { constructorProblem, problemAt, textOf, type SdkNames } from './syntax.ts';

const STARTS = ['beginning', 'now'] as const;
const FORMS = {
  on: { before: 0, example: '(event: OrderEvent, context: EventContext): Verdict' },
} as const;

/** The first events that a consumer is called with. */
export type ConsumerStart = (typeof STARTS)[number];

export interface ConsumerClass {
  readonly declaration: ClassDeclaration;
  readonly name: string;
  readonly id: string;
  readonly start: ConsumerStart;
  /** Methods of @on, in the order of the source. */
  readonly sources: readonly SourceMethod<'on'>[];
}

export function readConsumer(
  declaration: ClassDeclaration,
  role: DecoratorNode,
  names: SdkNames,
  problems: Problem[],
): ConsumerClass {
  const name = declaration.name.text;
  const badConstructor = constructorProblem(declaration);
  if (badConstructor !== undefined) problems.push(badConstructor);
  const [idNode, startNode, extra] = role.args ?? [];
  const id = idNode instanceof StringLiteralExpression ? idNode.value : '';
  if (!WIRE_NAME.test(id))
    problems.push(
      problemAt(
        role.range,
        '@consumer needs the id of the consumer',
        "@consumer(\"ledger\", Start.beginning), with an id of letters, digits, '.', '_', '-', beginning with a letter",
      ),
    );
  const start = startNode && startOf(startNode, names);
  if (start === undefined || extra !== undefined)
    problems.push(startProblem(role, extra ?? startNode));
  const base = declaration.extendsType;
  if (base === null || names.of(base) !== 'Consumer')
    problems.push(
      problemAt(
        declaration.name.range,
        `consumer '${name}' must extend Consumer of @svc/guest-sdk`,
        'import { Consumer } from "@svc/guest-sdk"',
      ),
    );
  if ((declaration.typeParameters?.length ?? 0) > 0)
    problems.push(
      problemAt(declaration.name.range, `consumer '${name}' cannot have type parameters`),
    );
  const sources = readSourceMethods(declaration, 'a consumer', FORMS, problems);
  if (sources.length === 0)
    problems.push(
      problemAt(
        declaration.name.range,
        `consumer '${name}' has no @on: it would get no events`,
        `add @on("order") onOrder${FORMS.on.example} { … }`,
      ),
    );
  return { declaration, name, id, start: start ?? 'beginning', sources };
}

/** Returns the start that an expression names: `Start.now`, or `svc.Start.now` with a namespace import. */
function startOf(node: Expression, names: SdkNames): ConsumerStart | undefined {
  if (!(node instanceof PropertyAccessExpression)) return undefined;
  const { expression: owner, property } = node;
  const isStart =
    owner instanceof IdentifierExpression
      ? names.ofLocal(owner.text) === 'Start'
      : owner instanceof PropertyAccessExpression &&
        owner.expression instanceof IdentifierExpression &&
        names.isNamespace(owner.expression.text) &&
        owner.property.text === 'Start';
  return isStart ? STARTS.find((start) => start === property.text) : undefined;
}

/** `found`: what stands in place of the start; undefined if nothing does. */
function startProblem(role: DecoratorNode, found: Expression | undefined): Problem {
  const help =
    'import { Start } from "@svc/guest-sdk", and write Start.beginning for all events of the journal, or Start.now for those from the first start on';
  if (found === undefined)
    return problemAt(role.range, '@consumer does not say with which events it begins', help);
  return problemAt(
    found.range,
    `'${textOf(found)}' does not say with which events the consumer begins`,
    help,
  );
}
