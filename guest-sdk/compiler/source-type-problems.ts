// SourceTypeProblems: checks the sources of views and consumers against the entities of the program.
import type { Class, Program, Range, Type } from 'assemblyscript';
import { didYouMean } from '@svc/contract/suggestion';
import type { Declarations } from './declarations.ts';
import { classOf, resolve } from './resolved-types.ts';
import { SDK_PATH, isTypeOmitted } from './syntax.ts';
import type { SourceMethod } from './source-methods.ts';

/** Context of the check of one class. */
export interface SourceCheck {
  readonly program: Program;
  /** The class that has the methods. */
  readonly reference: Class;
  readonly declarations: Declarations;
  readonly report: (range: Range, message: string, help?: string) => void;
}

/**
 * Returns the type of the events of a source; undefined if it has a problem. A component that is not an entity is
 * reported. `label`: the class, as in `view 'Orders'`.
 */
export function eventOfSource(
  { program, declarations, report }: SourceCheck,
  label: string,
  source: SourceMethod,
): Type | undefined {
  const entities = [...declarations.entities.values()];
  const entity = entities.find(({ component }) => component === source.component);
  if (entity === undefined) {
    const components = entities.map(({ component }) => component);
    const meant = didYouMean(source.component, components);
    const owner = label.split(' ', 1)[0]!;
    report(
      source.decorator.range,
      `${label}: there is no entity '${source.component}'.${meant}`,
      components.length === 0
        ? `the events of a ${owner} are those of entities: declare one`
        : `@${source.kind} names the id of an @entity: ${components.slice(0, 10).join(', ')}`,
    );
    return undefined;
  }
  const entityClass = classOf(program, entity.declaration);
  return entityClass && entity.eventNode && resolve(program, entity.eventNode, entityClass);
}

/** Types of a method of a source. */
export interface SourceSignature {
  /** Undefined: the author has left the type out, which is reported elsewhere. */
  readonly parameters: readonly (Type | undefined)[];
  readonly returned: Type | undefined;
}

/** Resolves the types of a method; undefined if one does not resolve, which the compiler reports. */
export function signatureOfSource(
  { program, reference }: SourceCheck,
  { method }: SourceMethod,
): SourceSignature | undefined {
  const { parameters, returnType } = method.signature;
  const nodes = [...parameters.map(({ type }) => type), returnType];
  const types = nodes.map((node) =>
    isTypeOmitted(node) ? undefined : resolve(program, node, reference),
  );
  if (nodes.some((node, at) => !isTypeOmitted(node) && types[at] === undefined)) return undefined;
  return { parameters: types.slice(0, -1), returned: types.at(-1) };
}

/** Returns whether the last parameters, from the event on, are the event and perhaps its context. */
export function takesEvent(given: readonly (Type | undefined)[], event: Type): boolean {
  const [first, context, ...more] = given;
  const contextFits = context === undefined || sdkClass(context) === 'source-event/EventContext';
  return first === event && contextFits && more.length === 0;
}

/** Returns the file and name of a class of the SDK; undefined for any other type. */
export function sdkClass(type: Type): string | undefined {
  const name = type.getClass()?.prototype.internalName;
  return name?.startsWith(SDK_PATH) === true && !type.isNullableReference
    ? name.slice(SDK_PATH.length)
    : undefined;
}
