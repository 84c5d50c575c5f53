// Declarations: the data classes, entities, endpoints, views and consumers of the author's files, read from the syntax
// tree before names are resolved, with the problems of each declaration by itself that do not depend on types.
import {
  ClassDeclaration,
  FieldDeclaration,
  MethodDeclaration,
  NamedTypeNode,
  NewExpression,
  type DecoratorNode,
  type EnumDeclaration,
  type Parser,
  type Source,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { readConfiguration, type ConfigurationClass } from './configuration-declaration.ts';
import { readEnums, type DataEnum } from './data-enum.ts';
import { readConsumer, type ConsumerClass } from './consumer-declaration.ts';
import { decoratorProblems } from './decorators.ts';
import { readEndpoint, type EndpointClass } from './endpoint-declaration.ts';
import { aliasProblems, readAliases } from './field-aliases.ts';
import { readEntity, type EntityClass } from './entity-declaration.ts';
import { viewQueryProblems } from './view-query-problems.ts';
import {
  readView,
  readViewQuery,
  type ViewClass,
  type ViewQueryClass,
} from './view-declaration.ts';
import {
  ABSTRACT,
  READONLY,
  STATIC,
  classesOf,
  decoratorName,
  decoratorOf,
  has,
  problemAt,
  sdkNames,
  stringArguments,
  textOf,
  type SdkNames,
} from './syntax.ts';

export interface Field {
  readonly name: string;
  readonly node: FieldDeclaration;
  /** Source text of the type. */
  readonly type: string;
  /** Source text of the initialiser. */
  readonly initializer: string | undefined;
  readonly optional: boolean;
  /** True if the type is `Patch` or `NullablePatch`: the field may be absent, and is then not written. */
  readonly isPatch: boolean;
  /** Further names under which the field is read. */
  readonly aliases: readonly string[];
  readonly readonly: boolean;
}

/** A @data or @variant class. `record`: a class by itself; `sum`: the base of a sum type; `case`: a case of one. */
export interface DataClass {
  readonly kind: 'record' | 'sum' | 'case';
  readonly declaration: ClassDeclaration;
  readonly name: string;
  /** Name of the stored type. */
  readonly manifest: string;
  /** Value of the field `type` of a case; undefined for other classes. */
  readonly tag: string | undefined;
  /** Fields, inherited ones first. */
  readonly fields: readonly Field[];
  /** Cases of a sum type. */
  readonly cases: readonly DataClass[];
  /** Whether the author has declared a member `clone` in the class, its base or one of its cases. */
  readonly hasOwnClone: boolean;
}

export interface Declarations {
  readonly data: ReadonlyMap<ClassDeclaration, DataClass>;
  readonly enums: ReadonlyMap<EnumDeclaration, DataEnum>;
  readonly entities: ReadonlyMap<ClassDeclaration, EntityClass>;
  readonly endpoints: ReadonlyMap<ClassDeclaration, EndpointClass>;
  readonly views: ReadonlyMap<ClassDeclaration, ViewClass>;
  readonly consumers: ReadonlyMap<ClassDeclaration, ConsumerClass>;
  /** Queries of views, in the order of the sources. */
  readonly queries: readonly ViewQueryClass[];
  /** The class of the module's configuration, which is also in `data`; undefined if the module reads none. */
  readonly configuration: ConfigurationClass | undefined;
  readonly problems: readonly Problem[];
}

const CLASS_DECORATORS = new Set([
  'data',
  'variant',
  'configuration',
  'entity',
  'endpoint',
  'view',
  'consumer',
]);
/** Types of the SDK for fields that may be absent. */
const PATCHES: ReadonlySet<string> = new Set(['Patch', 'NullablePatch']);
const SAFE_MANIFEST = /^[A-Za-z][A-Za-z0-9._-]{0,99}$/;

export function isUserSource(source: Source): boolean {
  return !source.normalizedPath.startsWith('~lib/');
}

export function readDeclarations(parser: Parser): Declarations {
  const data = new Map<ClassDeclaration, DataClass>();
  const enums = new Map<EnumDeclaration, DataEnum>();
  const entities = new Map<ClassDeclaration, EntityClass>();
  const endpoints = new Map<ClassDeclaration, EndpointClass>();
  const views = new Map<ClassDeclaration, ViewClass>();
  const consumers = new Map<ClassDeclaration, ConsumerClass>();
  const queries: ViewQueryClass[] = [];
  let configuration: ConfigurationClass | undefined;
  const problems: Problem[] = [];
  for (const source of parser.sources.filter((candidate) => isUserSource(candidate))) {
    problems.push(...decoratorProblems(source));
    for (const one of readEnums(source, problems)) enums.set(one.declaration, one);
    const names = sdkNames(source);
    const classes = classesOf(source);
    for (const declaration of classes) {
      const roles = (declaration.decorators ?? []).filter((decorator) =>
        CLASS_DECORATORS.has(decoratorName(decorator)),
      );
      const [role, second] = roles;
      if (second !== undefined)
        problems.push(problemAt(second.range, 'a class has one role: remove this decorator'));
      if (role === undefined) {
        problems.push(...strayCaseProblems(declaration, classes));
        continue;
      }
      switch (decoratorName(role)) {
        case 'entity':
          entities.set(declaration, readEntity(declaration, role, names, problems));
          break;
        case 'endpoint':
          endpoints.set(declaration, readEndpoint(declaration, role, names, problems));
          break;
        case 'view':
          views.set(declaration, readView(declaration, role, names, problems));
          break;
        case 'consumer':
          consumers.set(declaration, readConsumer(declaration, role, names, problems));
          break;
        default: {
          const one = readData(declaration, role, classes, names, problems);
          data.set(declaration, one);
          configuration = readConfiguration(one, role, configuration, problems);
          const query = readViewQuery(declaration, problems);
          if (query !== undefined) queries.push(query);
        }
      }
    }
  }
  const isRecord = (one: ClassDeclaration) => data.get(one)?.kind === 'record';
  problems.push(...viewQueryProblems([...views.values()], queries, isRecord));
  return { data, enums, entities, endpoints, views, consumers, queries, configuration, problems };
}

/** Reports a class without a decorator that extends a @data class: as a case of it, it could not be decoded. */
function strayCaseProblems(
  declaration: ClassDeclaration,
  classes: readonly ClassDeclaration[],
): Problem[] {
  const base = baseOf(declaration, classes);
  if (base === undefined || decoratorOf(base, 'data') === undefined) return [];
  return [
    problemAt(
      declaration.name.range,
      `'${declaration.name.text}' extends a @data class: give it @variant("name") to make it a case of '${base.name.text}'`,
    ),
  ];
}

function baseOf(
  declaration: ClassDeclaration,
  classes: readonly ClassDeclaration[],
): ClassDeclaration | undefined {
  const name = declaration.extendsType?.name.identifier.text;
  return name === undefined ? undefined : classes.find((other) => other.name.text === name);
}

function readData(
  declaration: ClassDeclaration,
  role: DecoratorNode,
  classes: readonly ClassDeclaration[],
  names: SdkNames,
  problems: Problem[],
): DataClass {
  const name = declaration.name.text;
  const isCase = decoratorName(role) === 'variant';
  const given = readStoredName(role, problems);
  const base = baseOf(declaration, classes);
  const hasDataBase = base !== undefined && decoratorOf(base, 'data') !== undefined;
  problems.push(...baseProblems(declaration, isCase, base));
  const own = ownFields(declaration, problems, names);
  const fields = [...(hasDataBase ? ownFields(base, [], names) : []), ...own];
  problems.push(...aliasProblems(own, fields, isCase));
  if (isCase)
    for (const field of fields)
      if (field.name === 'type')
        problems.push(
          problemAt(
            field.node.range,
            'the field `type` holds the name of the case: rename this one',
          ),
        );

  const cases = isCase
    ? []
    : classes
        .filter(
          (other) =>
            decoratorOf(other, 'variant') !== undefined && baseOf(other, classes) === declaration,
        )
        .map((other) => readData(other, decoratorOf(other, 'variant')!, classes, names, []));
  const isSum = !isCase && has(declaration, ABSTRACT);
  if (isSum) {
    const isBase = classes.some((other) => baseOf(other, classes) === declaration);
    problems.push(...sumProblems(declaration, cases, isBase));
  }
  return {
    kind: isCase ? 'case' : isSum ? 'sum' : 'record',
    declaration,
    name,
    manifest: isCase ? name : (given ?? name),
    tag: isCase ? (given ?? name) : undefined,
    fields,
    cases,
    hasOwnClone:
      declaresClone(declaration) ||
      (hasDataBase && declaresClone(base)) ||
      cases.some((one) => one.hasOwnClone),
  };
}

/** Reads the name that the decorator gives to the stored type or the case; undefined if it gives none. */
function readStoredName(role: DecoratorNode, problems: Problem[]): string | undefined {
  const decorator = decoratorName(role);
  const names = stringArguments(role);
  const given = names?.[0];
  const report = (message: string): void => {
    problems.push(problemAt(role.range, message));
  };
  if (names === undefined || names.length > 1) report(`@${decorator} takes one name, as a string`);
  else if (given !== undefined && !SAFE_MANIFEST.test(given))
    report(`'${given}' cannot be stored as a name: use letters, digits, '.', '_' and '-'`);
  if (decorator === 'variant' && given === undefined)
    report('@variant needs the name that is stored in the field `type`: @variant("item-added")');
  return given;
}

/** Checks that a case extends an abstract @data class, and that other @data classes extend none. */
function baseProblems(
  declaration: ClassDeclaration,
  isCase: boolean,
  base: ClassDeclaration | undefined,
): Problem[] {
  const { name, extendsType } = declaration;
  const hasDataBase = base !== undefined && decoratorOf(base, 'data') !== undefined;
  if (isCase && (!hasDataBase || !has(base, ABSTRACT)))
    return [
      problemAt(
        name.range,
        `case '${name.text}' must extend an abstract @data class that is declared in the same file`,
      ),
    ];
  if (isCase || extendsType === null) return [];
  return [
    problemAt(
      extendsType.range,
      `@data class '${name.text}' cannot extend another: put the fields into it, or make it a case with @variant("name")`,
    ),
  ];
}

/**
 * Checks the base class of a sum type. `isBase`: whether a class of the file extends it, as a case or without a
 * decorator; the missing decorator has its own message.
 */
function sumProblems(
  { name, typeParameters }: ClassDeclaration,
  cases: readonly DataClass[],
  isBase: boolean,
): Problem[] {
  const problems: Problem[] = [];
  if (cases.length === 0 && !isBase)
    problems.push(
      problemAt(
        name.range,
        `abstract @data class '${name.text}' has no case: declare @variant("name") classes that extend it in this file`,
      ),
    );
  if ((typeParameters?.length ?? 0) > 0)
    problems.push(problemAt(name.range, `sum type '${name.text}' cannot have type parameters`));
  const tags = new Set<string | undefined>();
  for (const one of cases) {
    if (tags.has(one.tag))
      problems.push(
        problemAt(
          one.declaration.name.range,
          `sum type '${name.text}' has the case '${one.tag}' twice`,
        ),
      );
    tags.add(one.tag);
  }
  return problems;
}

/** Checks a patch field: it cannot be nullable or have a default, because it is absent until it gets a value. */
function patchProblems(field: Field, written: NamedTypeNode): Problem[] {
  const { name, type, optional, node } = field;
  const help = 'a Patch may be missing, a NullablePatch may be missing or null';
  if (optional)
    return [problemAt(node.range, `field '${name}' is a patch: remove @optional`, help)];
  const inner = written.typeArguments?.[0];
  const isNullable = written.isNullable || inner?.isNullable === true;
  if (!isNullable) return initialPatchProblems(field);
  const plain = (inner === undefined ? type : textOf(inner)).replace(/ *\| *null$/, '');
  return [
    problemAt(
      node.range,
      `field '${name}' cannot be '${type}': write NullablePatch<${plain}>`,
      help,
    ),
  ];
}

function initialPatchProblems({ name, type, node: { initializer } }: Field): Problem[] {
  // The compiler reports a `new` of another class than a patch.
  if (initializer === null || initializer instanceof NewExpression) return [];
  return [
    problemAt(
      initializer.range,
      `field '${name}' starts absent: write new ${type}()`,
      'a patch that is missing is absent, so that no initial value takes its place; use orElse where it is read',
    ),
  ];
}

function declaresClone(declaration: ClassDeclaration): boolean {
  return declaration.members.some((member) => member.name.text === 'clone' && !has(member, STATIC));
}

function ownFields(declaration: ClassDeclaration, problems: Problem[], names: SdkNames): Field[] {
  const fields: Field[] = [];
  // A value of the configuration may be left out if it has a default.
  const isConfiguration = decoratorOf(declaration, 'configuration') !== undefined;
  for (const member of declaration.members) {
    if (member instanceof MethodDeclaration) continue;
    if (!(member instanceof FieldDeclaration) || has(member, STATIC)) continue;
    if (member.type === null || !(member.type instanceof NamedTypeNode)) {
      problems.push(
        problemAt(member.range, `field '${member.name.text}' needs a type that has a JSON form`),
      );
      continue;
    }
    const field: Field = {
      name: member.name.text,
      node: member,
      type: textOf(member.type),
      initializer: member.initializer === null ? undefined : textOf(member.initializer),
      optional:
        decoratorOf(member, 'optional') !== undefined ||
        (isConfiguration && member.initializer !== null),
      isPatch: PATCHES.has(names.of(member.type) ?? ''),
      aliases: readAliases(member, problems),
      readonly: has(member, READONLY),
    };
    fields.push(field);
    if (field.isPatch) problems.push(...patchProblems(field, member.type));
    if (field.optional && field.initializer === undefined)
      problems.push(
        problemAt(
          member.range,
          `@optional field '${field.name}' needs an initialiser: it is the value when the field is missing`,
        ),
      );
  }
  return fields;
}
