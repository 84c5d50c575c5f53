// A model is the sequential specification of an entity: the state and the answer after each operation, when operations are executed one
// after the other. Its functions are pure. Some of them only serve to leave out what cannot lead to an explanation of a history.
//
// Invariant: if a model has an operation that `leaves` a state, all its operations are such ones or queries.
import type { Value } from './history.ts';

export interface Model<State extends Value, Input, Output extends Value> {
  readonly initial: State;
  /** Returns true for an operation that changes no state. */
  isQuery(input: Input): boolean;
  /** Returns the state after an operation. */
  after(state: State, input: Input): State;
  /** Returns the answer to an operation that is executed on a state. */
  answer(state: State, input: Input): Output;
  /** Returns the only state on which an operation can have an answer; undefined if there are several. */
  needs(input: Input, output: Output): State | undefined;
  /** Returns the state after an operation that overwrites every state with the same one; else undefined. */
  leaves(input: Input): State | undefined;
  /** Returns false if one state cannot follow another, different one. `isLeft`: an operation that leaves it is still possible. */
  mayFollow(state: State, next: State, isLeft: boolean): boolean;
}
