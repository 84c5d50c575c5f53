// BearerDeclaration: the @bearer decorator of an endpoint or a route, which asks callers for an access token: `@bearer()`, or with
// what the caller needs, such as `@bearer(Role.any("librarian", "admin"), Scope.all("books:write"))`.
import {
  CallExpression,
  StringLiteralExpression,
  type DecoratorNode,
  type Expression,
} from 'assemblyscript';
import { type BearerRequirement, type BearerRule, GRANTS_MAX } from '@svc/contract';
import type { Problem } from './build-error.ts';
import { dottedName, problemAt } from './syntax.ts';

const HELP =
  '@bearer() for any good token, or with some of these: @bearer(Role.any("librarian", "admin"), Scope.all("books:write"), Token.forwarded)';
const FORWARDED = 'Token.forwarded';
/** Role and scope → member of the rule. */
const GRANTS: ReadonlyMap<string, 'roles' | 'scopes'> = new Map([
  ['Role', 'roles'],
  ['Scope', 'scopes'],
]);
const NAME = /^[!#-[\]-~]{1,255}$/;

/** Reads the arguments of `@bearer`. Returns undefined if it has added a problem. */
export function readBearer(node: DecoratorNode, problems: Problem[]): BearerRule | undefined {
  const count = problems.length;
  const rule: { -readonly [Member in keyof BearerRule]: BearerRule[Member] } = {};
  for (const argument of node.args ?? []) {
    const [word, match] = calleeOf(argument) ?? [];
    const member = GRANTS.get(word ?? '');
    const key = dottedName(argument) === FORWARDED ? 'forwardsToken' : member;
    if (key === undefined || (key !== 'forwardsToken' && match !== 'any' && match !== 'all')) {
      problems.push(problemAt(argument.range, 'this is no rule of @bearer', HELP));
      continue;
    }
    if (key in rule)
      problems.push(problemAt(argument.range, '@bearer has this rule twice: keep one'));
    if (key === 'forwardsToken') rule.forwardsToken = true;
    else
      rule[key] = {
        match: match as BearerRequirement['match'],
        names: namesOf(argument as CallExpression, problems),
      };
  }
  return problems.length === count ? rule : undefined;
}

/** Returns the two words of a call such as `Role.any(…)`; undefined if it is none. */
function calleeOf(expression: Expression): readonly string[] | undefined {
  if (!(expression instanceof CallExpression)) return undefined;
  return dottedName(expression.expression)?.split('.');
}

function namesOf({ args, range }: CallExpression, problems: Problem[]): string[] {
  const names = args.flatMap((one) => (one instanceof StringLiteralExpression ? one.value : []));
  if (names.length !== args.length || names.length === 0 || names.length > GRANTS_MAX)
    problems.push(
      problemAt(range, `a rule of @bearer has 1 to ${GRANTS_MAX} names, as texts`, HELP),
    );
  const bad = names.find((name) => !NAME.test(name));
  if (bad !== undefined)
    problems.push(
      problemAt(
        range,
        `'${bad}' cannot be the name of a role or a scope`,
        'names have up to 255 visible ASCII characters, without quotation mark and backslash',
      ),
    );
  return names;
}
