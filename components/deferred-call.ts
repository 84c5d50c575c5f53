// DeferredCall: a command with its target and its input, which a timer sends later.
import type { EntityRef } from '@svc/model/entity';
import type { Schema, ValueOf } from './codec.ts';

/** A command with its target and its input, for a timer. `callOf`, and `self` in a command, create it. */
export class DeferredCall {
  readonly #target: EntityRef;
  readonly #command: string;
  readonly #input: string;

  /** `command`: the wire name. `input`: JSON text. */
  constructor(target: EntityRef, command: string, input: string) {
    this.#target = target;
    this.#command = command;
    this.#input = input;
  }

  get stored(): { readonly target: EntityRef; readonly command: string; readonly input: string } {
    return { target: this.#target, command: this.#command, input: this.#input };
  }
}

/**
 * Methods that create calls of the entity that is being defined, by the schemas of its commands' inputs. If no command has an input
 * or a reply, TypeScript does not know their names while it reads the handlers, and any name is accepted: a wrong one
 * is a fault of the command.
 */
export type OwnCalls<Inputs> = unknown extends Inputs
  ? // oxlint-disable-next-line typescript/no-explicit-any -- an index signature would make each method possibly undefined
    any
  : {
      readonly [Key in keyof Inputs]: (
        ...input: Inputs[Key] extends Schema ? [input: ValueOf<Inputs[Key]>] : []
      ) => DeferredCall;
    };
