// SourceMethods: reads the methods of views and consumers that get the events of an entity, from the syntax tree.
import {
  MethodDeclaration,
  type ClassDeclaration,
  type DecoratorNode,
  type TypeNode,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import {
  decoratorName,
  decoratorOf,
  defaultProblems,
  handlerProblems,
  problemAt,
  stringArgument,
} from './syntax.ts';

/** A method that gets the events of a component. `K`: names of the decorators that it may have. */
export interface SourceMethod<K extends string = string> {
  /** Name of its decorator. */
  readonly kind: K;
  /** Id of the component. */
  readonly component: string;
  readonly decorator: DecoratorNode;
  readonly method: MethodDeclaration;
  /** Type of the events; undefined if the method does not declare it. */
  readonly event: TypeNode | undefined;
  readonly takesContext: boolean;
}

/** Form of the methods with one decorator. */
export interface SourceForm {
  /** Number of parameters before the event. */
  readonly before: number;
  /** Parameters and type of such a method, for the author to see. */
  readonly example: string;
}

/**
 * Reads the methods that have one of the decorators. Only these may have decorators. `forms`: the decorators with the
 * forms of their methods. `owner`: kind of the class, as in `a view`.
 */
export function readSourceMethods<K extends string>(
  declaration: ClassDeclaration,
  owner: string,
  forms: Readonly<Record<K, SourceForm>>,
  problems: Problem[],
): SourceMethod<K>[] {
  const kinds = Object.keys(forms) as K[];
  const sources: SourceMethod<K>[] = [];
  for (const method of declaration.members) {
    if (!(method instanceof MethodDeclaration)) continue;
    for (const decorator of method.decorators ?? []) {
      const name = decoratorName(decorator);
      if (name !== 'inline' && !kinds.some((kind) => kind === name))
        problems.push(
          problemAt(
            decorator.range,
            `a method of ${owner} is ${kinds.map((kind) => `a @${kind}("component")`).join(' or ')}, not @${name}`,
          ),
        );
    }
    const [kind, second] = kinds.filter((one) => decoratorOf(method, one) !== undefined);
    if (kind === undefined) continue;
    if (second !== undefined)
      problems.push(
        problemAt(
          decoratorOf(method, second)!.range,
          `a method is a @${kind} or a @${second}: remove one of them`,
        ),
      );
    const source = readSourceMethod(method, kind, forms[kind], problems);
    const other = sources.find(
      (one) => one.kind === source.kind && one.component === source.component,
    );
    if (other !== undefined)
      problems.push(
        problemAt(
          source.decorator.range,
          `@${kind}("${source.component}") stands before two methods, '${other.method.name.text}' and '${method.name.text}'`,
          'write one method for the events of a component',
        ),
      );
    sources.push(source);
  }
  return sources;
}

function readSourceMethod<K extends string>(
  method: MethodDeclaration,
  kind: K,
  { before, example }: SourceForm,
  problems: Problem[],
): SourceMethod<K> {
  const decorator = decoratorOf(method, kind)!;
  const component = stringArgument(decorator) ?? '';
  if (component === '')
    problems.push(
      problemAt(
        decorator.range,
        `@${kind} needs the id of the component whose events the method gets`,
        `@${kind}("order"), the id that @entity names`,
      ),
    );
  problems.push(...handlerProblems(method));
  const { parameters } = method.signature;
  for (const parameter of parameters) problems.push(...defaultProblems(parameter, method));
  if (parameters.length <= before)
    problems.push(
      problemAt(
        method.name.range,
        `'${method.name.text}' takes no event`,
        `write ${method.name.text}${example}, with your own type${before > 0 ? 's' : ''}`,
      ),
    );
  return {
    kind,
    component,
    decorator,
    method,
    event: parameters[before]?.type,
    takesContext: parameters.length > before + 1,
  };
}
