// DataEnum: an enum whose members are stored by name. AssemblyScript treats every enum as i32, so each enum of the
// author gets its own type: still an i32 in the module, but distinct from i32 in `Colour[]`, `Page<Colour>` and
// `Effect<Colour>`. The type determines how values are stored.
//
// Invariant: an enum without @data has the members of i32, and no JSON form.
import {
  Class,
  ClassPrototype,
  Enum,
  EnumDeclaration,
  StringLiteralExpression,
  Type,
  TypeDefinition,
  type Program,
  type Source,
} from 'assemblyscript';
import * as assemblyscript from 'assemblyscript';
import type { Problem } from './build-error.ts';
import { decoratorOf, problemAt } from './syntax.ts';

export interface DataEnum {
  readonly declaration: EnumDeclaration;
  readonly name: string;
  /** Names of the members. If several have the same value, the first one is written. */
  readonly members: readonly string[];
}

/** The type of an author's enum: an i32 by kind, but with its own identity and name. */
export class EnumType extends Type {
  readonly element: Enum;

  constructor(element: Enum) {
    super(Type.i32.kind, Type.i32.flags, Type.i32.size);
    this.element = element;
  }

  /** Distinguishes `Array<Colour>` from `Array<i32>`: the compiler finds instances by this name. */
  override toString(): string {
    return this.element.internalName;
  }
}

// The types declare the flags as a const enum; at run time they are an object.
const { CommonFlags } = assemblyscript as unknown as {
  readonly CommonFlags: { readonly Resolved: number };
};
/** Maximum number of names that a message lists. */
const NAMES_SHOWN_MAX = 20;

export function readEnums(source: Source, problems: Problem[]): DataEnum[] {
  const enums: DataEnum[] = [];
  for (const declaration of source.statements) {
    if (!(declaration instanceof EnumDeclaration)) continue;
    problems.push(...textValueProblems(declaration));
    const role = decoratorOf(declaration, 'data');
    if (role === undefined) continue;
    const name = declaration.name.text;
    if ((role.args?.length ?? 0) > 0)
      problems.push(
        problemAt(
          role.range,
          `the name of enum '${name}' is not stored, the names of its members are: write @data alone`,
        ),
      );
    const members = declaration.values.map((value) => value.name.text);
    if (members.length === 0)
      problems.push(
        problemAt(declaration.name.range, `enum '${name}' has no member, so it has no value`),
      );
    enums.push({ declaration, name, members });
  }
  return enums;
}

/** Reports one problem for each enum, since the others have the same cause. */
function textValueProblems({ name, values }: EnumDeclaration): Problem[] {
  const text = values.find(({ initializer }) => initializer instanceof StringLiteralExpression);
  return text === undefined
    ? []
    : [
        problemAt(
          text.range,
          `a member of an enum is a number: '${name.text}.${text.name.text}' cannot be text`,
          `leave the values away: @data enum ${name.text} { ${values.map((value) => value.name.text).join(', ')} } is stored by the names of its members`,
        ),
      ];
}

const quote = (text: string): string => JSON.stringify(text);
const wrapperName = (name: string): string => `__svc_EnumOf${name}`;

/** Returns the source of the class whose methods the enum's values have: text, and JSON by name. */
export function enumClass({ name, members }: DataEnum): string {
  const shown = members.slice(0, NAMES_SHOWN_MAX).map(quote).join(' or ');
  const rest = members.length - NAMES_SHOWN_MAX;
  const known = rest > 0 ? `${shown} or one of ${rest} more names` : shown;
  const read = members.map((member) => `if (name == ${quote(member)}) return ${name}.${member};`);
  const write = members.map(
    (member) => `if (this == ${name}.${member}) { w.raw(${quote(quote(member))}); return; }`,
  );
  return `@final @unmanaged abstract class ${wrapperName(name)} {
  toString(this: i32, radix: i32 = 10): String { return (<i32>this).toString(radix); }
  __svc_ofName(this: i32, name: string, r: __svc_JsonReader): i32 {
    ${read.join('\n    ')}
    r.unknownName(${quote(known)}, name);
    return 0;
  }
  __svc_readEnum(this: i32, r: __svc_JsonReader): i32 {
    const name = r.readName(${quote(known)});
    return r.failed ? 0 : this.__svc_ofName(name, r);
  }
  __svc_writeEnum(this: i32, w: __svc_JsonWriter): void {
    ${write.join('\n    ')}
    throw new Error("enum '${name}' has no member of the value " + (<i32>this).toString() + ": it cannot be written as JSON");
  }
}`;
}

/** Gives each enum of the author its own type. Call this function before any type is resolved. */
export function giveEnumsTypes(
  program: Program,
  isUsers: (source: Source) => boolean,
  enums: ReadonlyMap<EnumDeclaration, DataEnum>,
): void {
  for (const [declaration, element] of program.elementsByDeclaration) {
    if (!(element instanceof Enum) || !(declaration instanceof EnumDeclaration)) continue;
    // An enum may have the same name as a type of the author.
    if (!isUsers(declaration.range.source) || element.shadowType !== null) continue;
    const type = new EnumType(element);
    const definition = new TypeDefinition(element.name, element.parent, declaration as never);
    definition.setType(type);
    definition.set(CommonFlags.Resolved);
    element.shadowType = definition;
    const data = enums.get(declaration);
    const wrapper = data === undefined ? undefined : wrapperOf(element, data);
    if (wrapper !== undefined) wrapper.wrappedType = type;
    program.wrapperClasses.set(type, wrapper ?? program.wrapperClasses.get(Type.i32)!);
  }
}

function wrapperOf(element: Enum, { name }: DataEnum): Class | undefined {
  const prototype = element.parent.getMember(wrapperName(name));
  if (!(prototype instanceof ClassPrototype)) return undefined;
  return element.program.resolver.resolveClass(prototype, null) ?? undefined;
}
