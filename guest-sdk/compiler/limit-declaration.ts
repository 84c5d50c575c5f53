// LimitDeclarations: the @limit decorators of an endpoint or a route, each of which bounds how many requests are let through:
// `@limit("60/minute", By.subject)`.
import { StringLiteralExpression, type DecoratorNode } from 'assemblyscript';
import { LIMIT_COUNT_MAX, LIMIT_UNITS_MS, LIMITS_MAX, type LimitRule } from '@svc/contract';
import type { Problem } from './build-error.ts';
import { decoratorsOf, dottedName, problemAt } from './syntax.ts';

/** A limit, and where it stands. */
export interface DeclaredLimit {
  readonly rule: LimitRule;
  readonly node: DecoratorNode;
}

const HELP =
  '@limit("60/minute", By.subject): a number for each second, minute, hour or day, and By.subject, By.address or By.route';
const RATE = /^([1-9]\d*)\/(second|minute|hour|day)$/;
const KEYS: ReadonlyMap<string, LimitRule['by']> = new Map([
  ['By.subject', 'subject'],
  ['By.address', 'address'],
  ['By.route', 'route'],
]);

/** Reads the limits of a class or a method. Those that cannot be read are problems. */
export function readLimits(
  declaration: Parameters<typeof decoratorsOf>[0],
  problems: Problem[],
): readonly DeclaredLimit[] {
  const limits: DeclaredLimit[] = [];
  for (const node of decoratorsOf(declaration, 'limit')) {
    const rule = readLimit(node, problems);
    if (rule === undefined) continue;
    if (limits.some((other) => isSame(other.rule, rule)))
      problems.push(problemAt(node.range, 'this @limit stands here twice: keep one'));
    else if (limits.length === LIMITS_MAX)
      problems.push(
        problemAt(node.range, `there are more than ${LIMITS_MAX} limits: keep the strictest`),
      );
    else limits.push({ rule, node });
  }
  return limits;
}

function readLimit(node: DecoratorNode, problems: Problem[]): LimitRule | undefined {
  const [rate, by, ...others] = node.args ?? [];
  const key = by && KEYS.get(dottedName(by) ?? '');
  const text = rate instanceof StringLiteralExpression ? rate.value : '';
  const [, digits, per] = RATE.exec(text) ?? [];
  if (digits === undefined || key === undefined || others.length > 0 || !isUnit(per)) {
    problems.push(problemAt(node.range, 'this is no limit of requests', HELP));
    return undefined;
  }
  const count = Number(digits);
  if (count <= LIMIT_COUNT_MAX) return { count, per, by: key };
  problems.push(
    problemAt(
      rate!.range,
      `a limit counts 1 to ${LIMIT_COUNT_MAX} requests, and this one ${digits}`,
      'count in a shorter unit, such as a second',
    ),
  );
  return undefined;
}

function isUnit(word: string | undefined): word is LimitRule['per'] {
  return word !== undefined && word in LIMIT_UNITS_MS;
}

function isSame(one: LimitRule, other: LimitRule): boolean {
  return one.count === other.count && one.per === other.per && one.by === other.by;
}

/** Reports a limit by subject of a route that does not ask callers who they are. `without`: name of the route's handler. */
export function subjectlessLimit(
  limits: readonly DeclaredLimit[],
  without: string | undefined,
): readonly Problem[] {
  if (without === undefined) return [];
  return limits
    .filter(({ rule }) => rule.by === 'subject')
    .map(({ node }) =>
      problemAt(
        node.range,
        `By.subject counts the requests of each caller, and '${without}' asks for no access token that says who it is`,
        'add @bearer(), or count with By.address',
      ),
    );
}
