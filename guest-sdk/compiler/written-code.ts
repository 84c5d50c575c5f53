// WrittenCode: the AssemblyScript that the compiler writes into the author's classes, and the classes that it adds to
// their files, for data classes and endpoints (written-entity-code.ts, written-view-code.ts and
// written-consumer-code.ts have those of entities, views and consumers). Members are within the author's class, so names, aliases and type parameters mean what they mean to the author.
// Names of the SDK have the prefix `__svc_` (`GLUE_IMPORT`).
import type { Node } from 'assemblyscript';
import type { DataClass, Field } from './declarations.ts';
import type { EndpointClass } from './endpoint-declaration.ts';
import { madeFor } from './inject.ts';
import { plainStatus } from './route-answers.ts';
import { isValueArgument, type RouteArgument, type ValueArgument } from './route-arguments.ts';
import { SDK_PACKAGE, quote, textOf } from './syntax.ts';

const GLUE = [
  'DeferredCall',
  'EndpointComponent',
  'EntityCall',
  'EntityClient',
  'EffectBase',
  'FoundRow',
  'HttpCall',
  'JsonReader',
  'JsonWriter',
  'LaterReply',
  'Page',
  'RecordedEvent',
  'Result',
  'RowChange',
  'RowCount',
  'SourceEvent',
  'Verdict',
  'ViewClient',
  'addConsumer',
  'addEndpoint',
  'addEntity',
  'addView',
  'blank',
  'clone',
  'read',
  'toJson',
  'write',
];
export const GLUE_IMPORT = `import { ${GLUE.map((name) => `${name} as __svc_${name}`).join(', ')} } from "${SDK_PACKAGE}/glue";`;

// --- data classes ---

/** Returns the members that give a data class its JSON form. */
export function dataMembers(data: DataClass): string {
  const mark = madeFor(data.declaration.name);
  const manifest = `${mark}__svc_manifest(): string { return ${quote(data.manifest)}; }`;
  if (data.kind === 'sum')
    return `${manifest}
abstract __svc_encode(w: __svc_JsonWriter): void;
abstract __svc_decode(r: __svc_JsonReader): void;
abstract __svc_clone(): ${data.name};
${cloneMethod(data)}
${readCase(data)}`;
  const own = data.kind === 'case' ? `${mark}__svc_isCase(): void {}` : manifest;
  return `${own}
${encode(data)}
${decode(data)}
${copy(data)}
${cloneMethod(data)}`;
}

/** Returns `__svc_clone`, which copies the fields to a blank object: a constructor may do more than assign fields. */
function copy(data: DataClass): string {
  const type = ownType(data);
  const fields = data.fields.map(
    (field) =>
      `${madeFor(fieldNode(field))}${assign(field, `__svc_clone<${field.type}>(this.${field.name})`, 'o')}`,
  );
  return `__svc_clone(): ${type} {
  const o = __svc_blank<${type}>();
  ${fields.join('\n  ')}
  return o;
}`;
}

/** Returns `clone()`, unless the author has declared a `clone` in the class or its sum type. */
function cloneMethod(data: DataClass): string {
  return data.hasOwnClone ? '' : `clone(): ${ownType(data)} { return this.__svc_clone(); }`;
}

function ownType({ name, declaration }: DataClass): string {
  const parameters = (declaration.typeParameters ?? []).map((parameter) => parameter.name.text);
  return parameters.length === 0 ? name : `${name}<${parameters.join(', ')}>`;
}

function readCase(data: DataClass): string {
  const known = data.cases.map((one) => JSON.stringify(one.tag)).join(' or ');
  const branches = data.cases.map(
    (one) =>
      `if (tag == ${quote(one.tag!)}) { const o = __svc_blank<${one.name}>(); o.__svc_decode(r); return o; }`,
  );
  return `__svc_readCase(r: __svc_JsonReader): ${data.name} {
  const tag = r.peekTag();
  if (!r.failed) {
    ${branches.join('\n    ')}
    r.unknownTag(tag, ${quote(known)});
  }
  return changetype<${data.name}>(0);
}`;
}

function encode(data: DataClass): string {
  if (data.fields.some((field) => field.isPatch)) return encodePatches(data);
  const lines: string[] = [];
  let before = data.tag === undefined ? '{' : `{"type":${quote(data.tag)}`;
  let separator = data.tag === undefined ? '' : ',';
  for (const field of data.fields) {
    lines.push(`w.raw(${quote(`${before}${separator}${quote(field.name)}:`)});`);
    lines.push(`${madeFor(fieldNode(field))}__svc_write<${field.type}>(w, this.${field.name});`);
    before = '';
    separator = ',';
  }
  lines.push(`w.raw(${quote(`${before}}`)});`);
  return `__svc_encode(w: __svc_JsonWriter): void {\n  ${lines.join('\n  ')}\n}`;
}

/**
 * Returns the encoding code of a class with patch fields: it leaves absent fields out. Up to the first field that is
 * never absent, it checks whether a comma is needed.
 */
function encodePatches(data: DataClass): string {
  const lines = [`w.raw(${quote(data.tag === undefined ? '{' : `{"type":${quote(data.tag)}`)});`];
  let isFollowing = data.tag !== undefined;
  if (!isFollowing) lines.push('let isFollowing = false;');
  for (const field of data.fields) {
    const name = `${quote(field.name)}:`;
    const separate = isFollowing
      ? `w.raw(${quote(`,${name}`)});`
      : `if (isFollowing) w.raw(","); isFollowing = true; w.raw(${quote(name)});`;
    if (field.isPatch)
      lines.push(
        `if (this.${field.name}.isPresent) { ${separate} this.${field.name}.__svc_encode(w); }`,
      );
    else {
      lines.push(separate, `__svc_write<${field.type}>(w, this.${field.name});`);
      isFollowing = true;
    }
  }
  return `__svc_encode(w: __svc_JsonWriter): void {\n  ${lines.join('\n  ')}\n  w.raw("}");\n}`;
}

/** Returns the decoding code. Each variable `seen…` has one bit for each of 64 fields, set when the field was read. */
function decode(data: DataClass): string {
  const words = Math.ceil(data.fields.length / 64);
  const branches = data.fields.flatMap((field, index) => {
    const bit = seenBit(index);
    const names = [field.name, ...field.aliases];
    const twice = field.aliases.length === 0 ? '' : `, ${quote(names.join("' and '"))}`;
    return names.map(
      (name) => `if (${madeFor(fieldNode(field))}r.keyIs(${quote(name)})) {
      if (${bit.test}) { r.twice(${quote(name)}${twice}); return; }
      ${bit.set};
      ${assign(field, `__svc_read<${field.type}>(r)`)}
      if (r.failed) { r.within(${quote(name)}); return; }
    }`,
    );
  });
  if (data.tag !== undefined)
    branches.unshift(`if (r.keyIs("type")) {
      if (tagged) { r.twice("type"); return; }
      tagged = true;
      r.readTag(${quote(data.tag)});
      if (r.failed) { r.within("type"); return; }
    }`);
  const absent = data.fields.map(
    (field, index) =>
      `${madeFor(fieldNode(field))}if (!(${seenBit(index).test})) ${whenAbsent(field)}`,
  );
  if (data.tag !== undefined) absent.unshift('if (!tagged) { r.missing("type"); return; }');
  return `__svc_decode(r: __svc_JsonReader): void {
  ${Array.from({ length: words }, (_, word) => `let seen${word}: u64 = 0;`).join(' ')}
  ${data.tag === undefined ? '' : 'let tagged = false;'}
  let more = r.beginObject();
  while (more) {
    ${branches.join('\n    else ')}${branches.length > 0 ? '\n    else r.skipValue();' : 'r.skipValue();'}
    more = r.nextKey();
  }
  if (r.failed) return;
  ${absent.join('\n  ')}
}`;
}

/** Returns the type of the field, which most messages about its code are about. */
function fieldNode(field: Field): Node {
  return field.node.type ?? field.node;
}

function seenBit(index: number): { readonly test: string; readonly set: string } {
  const word = `seen${index >> 6}`;
  const mask = `((<u64>1) << ${index & 63})`;
  return { test: `(${word} & ${mask}) != 0`, set: `${word} |= ${mask}` };
}

/** Returns an assignment. A readonly field is written in memory, because only a constructor may assign it. */
function assign(field: Field, value: string, object = 'this'): string {
  if (!field.readonly) return `${object}.${field.name} = ${value};`;
  return `store<${field.type}>(changetype<usize>(${object}), ${value}, offsetof<this>(${quote(field.name)}));`;
}

function whenAbsent(field: Field): string {
  if (field.optional) return `{ ${assign(field, field.initializer ?? '0')} }`;
  if (field.isPatch) return `{ ${assign(field, `instantiate<${field.type}>()`)} }`;
  const missing = `{ r.missing(${quote(field.name)}); return; }`;
  return `{ if (isNullable<${field.type}>()) { ${assign(field, `changetype<${field.type}>(0)`)} } else ${missing} }`;
}

// --- endpoints ---

type DecodedArgument = Exclude<RouteArgument, { readonly kind: 'request' | 'context' }>;

/** Returns the members that dispatch routes to the methods of an endpoint. */
export function endpointMembers(endpoint: EndpointClass): string {
  const cases = endpoint.routes.map((route, index) => {
    const decoded: string[] = [];
    const args = route.arguments.map((argument, argumentIndex) => {
      if (argument.kind === 'request' || argument.kind === 'context')
        return `call.${argument.kind}`;
      decoded.push(
        `const a${argumentIndex} = ${argumentValue(argument, defaultName(index, argumentIndex))}; if (call.failed) return;`,
      );
      return `a${argumentIndex}`;
    });
    const returned = textOf(route.method.signature.returnType);
    const status = plainStatus(route.answers);
    const ending = status === undefined ? '' : `call.answerPlainly(${status}); `;
    return `${madeFor(route.method.name)}case ${index}: { ${decoded.join(' ')} call.answer<${returned}>(this.${route.method.name.text}(${args.join(', ')})); ${ending}return; }`;
  });
  const defaults = defaultsOf(endpoint).map(
    ({ name, argument }) =>
      `${madeFor(argument.node)}${name}(): ${textOf(argument.type)} { return 0; }`,
  );
  return `${madeFor(endpoint.declaration.name)}__svc_firstRoute(): i32 { return 0; }
__svc_routeCount(): i32 { return ${endpoint.routes.length}; }
__svc_register(): void { __svc_addEndpoint(this); }
${defaults.join('\n')}
__svc_handle(route: i32, call: __svc_HttpCall): void {
  switch (route) {
    ${cases.join('\n    ')}
    default: unreachable();
  }
}`;
}

function argumentValue(argument: DecodedArgument, defaultMethod: string): string {
  const type = textOf(argument.type);
  const name = quote(argument.name);
  switch (argument.kind) {
    case 'parameter':
      return `call.parameter<${type}>(${argument.index}, ${name})`;
    case 'body':
      return `call.body<${type}>()`;
    case 'query':
    case 'query-or-body': {
      const given =
        argument.kind === 'query'
          ? `call.query<${type}>(${name})`
          : `call.argument<${type}>(${name})`;
      if (argument.node.initializer === null) return given;
      return `call.hasQuery(${name}) ? ${given} : this.${defaultMethod}()`;
    }
  }
}

/** The method that returns the default of a query parameter; its body is the author's initialiser. */
export interface DefaultMethod {
  readonly name: string;
  readonly argument: ValueArgument;
}

/** Returns a method for each default, in which the names of the initialiser mean what they mean in the source. */
export function defaultsOf({ routes }: EndpointClass): readonly DefaultMethod[] {
  return routes.flatMap(({ arguments: args }, index) =>
    args.flatMap((argument, argumentIndex) =>
      isValueArgument(argument) && argument.node.initializer !== null
        ? [{ name: defaultName(index, argumentIndex), argument }]
        : [],
    ),
  );
}

function defaultName(route: number, argumentIndex: number): string {
  return `__svc_default_${route}_${argumentIndex}`;
}
