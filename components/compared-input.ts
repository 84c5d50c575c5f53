// ComparedInput: the part of a command's input by which a command that is repeated with its idempotency key is known to be the same.
import { CodecProblem } from './codec.ts';
import type { RunnableEntity } from './entity-definition.ts';
import { programFault } from './program-fault.ts';

/**
 * Returns it as text; undefined where the whole input is compared, as is one that does not fit its schema, which the command then
 * refuses. Throws GuestFault if the program's function throws.
 */
export function comparedInput(
  definition: RunnableEntity | undefined,
  command: string,
  input: string,
): string | undefined {
  const codec = definition?.byWireName.get(command)?.input;
  if (definition?.comparedInput === undefined || codec === undefined) return undefined;
  try {
    return JSON.stringify(definition.comparedInput(codec.decode(input, 'input')));
  } catch (error) {
    if (error instanceof CodecProblem) return undefined;
    throw programFault(`comparedInput of '${command}'`, error);
  }
}
