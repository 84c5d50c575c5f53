// KnownNames: collects names of the author's program, for messages about unknown names. The names of a file and the
// members of a type are collected only when such a message needs them.
import {
  ClassDeclaration,
  DeclarationStatement,
  EnumDeclaration,
  MethodDeclaration,
  type Parser,
  type Source,
} from 'assemblyscript';
import { isUserSource, type DataClass, type Declarations } from './declarations.ts';
import type { KnownNames } from './diagnostic-help.ts';
import { declaredNames } from './declared-names.ts';
import { EXPORT, PRIVATE, classesOf, has } from './syntax.ts';

export function knownNames(parser: Parser, declarations: Declarations): KnownNames {
  const sources = parser.sources.filter((source) => isUserSource(source));
  const sums = [...declarations.data.values()].filter(({ kind }) => kind === 'sum');
  return {
    clients: new Map(
      [...declarations.entities.values(), ...declarations.views.values()].map(
        ({ name, declaration }) => [`${name}Client`, declaration.range.source.normalizedPath],
      ),
    ),
    calls: new Map(
      [...declarations.entities.values()].map(({ name, declaration, handlers }) => [
        `${name}Call`,
        {
          file: declaration.range.source.normalizedPath,
          queries: handlers
            .filter(({ kind }) => kind === 'query')
            .map(({ method }) => method.name.text),
        },
      ]),
    ),
    caseMembers: caseMembers(sums),
    cases: new Map(sums.map(({ name, cases }) => [name, cases.map((one) => one.name)])),
    enums: new Map([...declarations.enums.values()].map(({ name, members }) => [name, members])),
    exported: exportedNames(sources),
    declaredIn: (file) =>
      sources
        .filter(({ normalizedPath }) => normalizedPath === file)
        .flatMap(({ statements }) =>
          statements.filter((one) => one instanceof DeclarationStatement),
        )
        .map(({ name }) => name.text),
    namesOf: (file) =>
      sources.filter(({ normalizedPath }) => normalizedPath === file).flatMap(declaredNames),
    membersOf: (type) => membersOf(parser, type),
  };
}

function caseMembers(sums: readonly DataClass[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, cases } of sums)
    for (const { name: caseName, fields, declaration } of cases) {
      const methods = declaration.members.filter((member) => member instanceof MethodDeclaration);
      const members = new Set([
        ...fields.map((field) => field.name),
        ...methods.map((method) => method.name.text),
      ]);
      for (const member of members) {
        const key = `${name}.${member}`;
        found.set(key, [...(found.get(key) ?? []), caseName]);
      }
    }
  return found;
}

function exportedNames(sources: readonly Source[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { statements, normalizedPath } of sources)
    for (const statement of statements)
      if (statement instanceof DeclarationStatement && has(statement, EXPORT)) {
        const name = statement.name.text;
        found.set(name, [...(found.get(name) ?? []), normalizedPath]);
      }
  return found;
}

/**
 * Returns the members of a class or an enum, with inherited ones, without private ones. The type may belong to the SDK
 * or the standard library.
 */
function membersOf(parser: Parser, type: string): string[] {
  const wanted = type === 'string' ? 'String' : type.replace(/<.*$| \| null$/, '');
  const classes = parser.sources.flatMap((source) => classesOf(source));
  const members: string[] = [];
  for (const { statements } of parser.sources)
    for (const one of statements)
      if (one instanceof EnumDeclaration && one.name.text === wanted)
        return one.values.map(({ name }) => name.text);
  let at = classes.find(({ name }) => name.text === wanted);
  for (let depth = 0; at !== undefined && depth < 10; depth++) {
    members.push(...namesOfMembers(at));
    const base = at.extendsType?.name.identifier.text;
    at = classes.find(({ name }) => name.text === base);
  }
  return members;
}

function namesOfMembers({ members }: ClassDeclaration): string[] {
  return members
    .filter((member) => !has(member, PRIVATE))
    .map(({ name }) => name.text)
    .filter((name) => name !== 'constructor');
}
