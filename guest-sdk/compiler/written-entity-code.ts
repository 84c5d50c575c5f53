// WrittenEntityCode: the AssemblyScript that the compiler writes into an entity's class, and the classes that it adds to
// the entity's file.
import type { MethodDeclaration } from 'assemblyscript';
import type { EntityClass, EntityHandler } from './entity-declaration.ts';
import { madeFor } from './inject.ts';
import { quote, textOf } from './syntax.ts';

/** Returns the members that dispatch wire names to the methods of an entity. */
export function entityMembers(entity: EntityClass): string {
  const commands = entity.handlers.filter((handler) => handler.kind === 'command');
  const queries = entity.handlers.filter((handler) => handler.kind === 'query');
  return `${madeFor(entity.declaration.name)}__svc_component(): string { return ${quote(entity.component)}; }
__svc_register(): void { __svc_addEntity(this); }
__svc_command(state: ${entity.state}, call: __svc_EntityCall): __svc_EffectBase {
  ${commands.map((handler) => dispatch(handler, 'call.commandRefused()')).join('\n  ')}
  return call.unknownCommand(${quote(entity.component)});
}
__svc_query(state: ${entity.state}, call: __svc_EntityCall): __svc_Result<string> {
  ${queries.map((handler) => dispatch(handler, 'call.queryRefused()')).join('\n  ')}
  return call.unknownQuery(${quote(entity.component)});
}
__svc_reply(state: ${entity.state}, later: __svc_LaterReply): string {
  ${entity.laterReplies.methods.map((method, index) => laterReply(entity, method, index)).join('\n  ')}
  return "";
}`;
}

function laterReply(entity: EntityClass, method: MethodDeclaration, index: number): string {
  const [, ...values] = method.signature.parameters;
  const args = ['state', ...values.map((_, argumentIndex) => `given.a${argumentIndex}`)];
  const given = `const given = changetype<${laterReplyClass(entity, method)}>(later);`;
  const reply = `this.${method.name.text}(${args.join(', ')})`;
  return `if (later.method == ${index}) { ${given} return __svc_toJson<${textOf(method.signature.returnType)}>(${reply}); }`;
}

/**
 * Returns the name of the class that holds the arguments of a method of `thenReplyFrom`. The length distinguishes
 * entity `A` with method `B_c` from entity `A_B` with method `c`.
 */
export function laterReplyClass({ name }: EntityClass, method: MethodDeclaration): string {
  return `__svc_${name.length}_${name}_${method.name.text}`;
}

/** Returns the classes that hold the arguments of the methods of `thenReplyFrom`. */
export function laterReplyClasses(entity: EntityClass): string {
  return entity.laterReplies.methods
    .map((method, index) => {
      const [, ...values] = method.signature.parameters;
      const fields = values.map(
        ({ type }, argumentIndex) => `public a${argumentIndex}: ${textOf(type)}`,
      );
      return `class ${laterReplyClass(entity, method)} extends __svc_LaterReply {
  constructor(${fields.join(', ')}) { super(${index}); }
}`;
    })
    .join('\n');
}

function dispatch(handler: EntityHandler, refused: string): string {
  const input = handler.input;
  const decoded =
    input === undefined
      ? ''
      : `const input = call.input<${textOf(input.type)}>(); if (call.failed) return ${refused};`;
  const args = handler.arguments.map((argument) =>
    argument === 'context' ? 'call.context' : argument,
  );
  const result = `this.${handler.method.name.text}(${args.join(', ')})`;
  const returned =
    handler.kind === 'command'
      ? result
      : `call.queryReply<${textOf(handler.method.signature.returnType)}>(${result})`;
  return `${madeFor(handler.method.name)}if (call.name == ${quote(handler.wireName)}) { ${decoded} return ${returned}; }`;
}

/** Returns the parameter of a written method that takes the handler's input, and the expression for its JSON text. */
function inputOf({ input }: EntityHandler): { readonly parameter: string; readonly json: string } {
  if (input === undefined) return { parameter: '', json: '"null"' };
  const type = textOf(input.type);
  return { parameter: `input: ${type}`, json: `__svc_toJson<${type}>(input)` };
}

/** Returns the class by which handlers call the entity. */
export function clientClass(entity: EntityClass): string {
  const methods = entity.handlers.map((handler) => {
    const { parameter, json } = inputOf(handler);
    const reply = textOf(handler.reply);
    return `${madeFor(handler.method.name)}${handler.method.name.text}(${parameter}): __svc_Result<${reply}> { return this.__svc_call<${reply}>(${quote(handler.wireName)}, ${json}); }`;
  });
  const recorded = `__svc_RecordedEvent<${entity.event}>[]`;
  return `${madeFor(entity.declaration.name)}export class ${entity.name}Client extends __svc_EntityClient {
  constructor(id: string) { super(${quote(entity.component)}, id); }
  ${methods.join('\n  ')}
  /** Sets the idempotency key of this client's commands, 1 to 1,022 characters; a repeat gets the stored reply. */
  withIdempotencyKey(key: string): ${entity.name}Client { this.__svc_key = key; return this; }
  /** Returns the acknowledged events since the entity's last deletion, oldest first; limit: 1 to 1,000. */
  events(afterSeq: u64 = 0, limit: u32 = 100): __svc_Result<${recorded}> { return this.__svc_events<${entity.event}>(afterSeq, limit); }
}`;
}

/** Returns the class whose static methods create deferred calls of the entity's commands, for timers. */
export function callClass(entity: EntityClass): string {
  const commands = entity.handlers.filter((handler) => handler.kind === 'command');
  const methods = commands.map((handler) => {
    const { parameter, json } = inputOf(handler);
    const parameters = parameter === '' ? 'id: string' : `id: string, ${parameter}`;
    return `${madeFor(handler.method.name)}static ${handler.method.name.text}(${parameters}): __svc_DeferredCall { return new __svc_DeferredCall(${quote(entity.component)}, id, ${quote(handler.wireName)}, ${json}); }`;
  });
  return `${madeFor(entity.declaration.name)}export class ${entity.name}Call {
  ${methods.join('\n  ')}
}`;
}
