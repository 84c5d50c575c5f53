// History texts are written histories of one entity, with an attempt in each line: `START-END [KEY:] OPERATION [NUMBER] [RESULT]`,
// such as `0-3 set 5`, `1-2 k1: add 5 = 7`, `4-6 get = 0`. The result is `= NUMBER`, or `?` for 504, `503`, or `422`. A `set` without a
// result was answered with its value, and a `delete` with 0.
import assert from 'node:assert/strict';
import type { CounterInput } from './counter-model.ts';
import type { Attempt, Outcome } from './history.ts';
import type { RegisterInput } from './register-model.ts';

export type Input = CounterInput | RegisterInput;
const LINE = /^(\d+)-(\d+) (?:(\w+): )?(get|delete|(?:set|add) (\d+))(?: (\?|503|422|= (\d+)))?$/;

export function historyOf(text: string): readonly Attempt<Input, number>[] {
  const lines = text.trim().split('\n');
  return lines.map((line) => {
    const parts = LINE.exec(line.trim());
    assert(parts !== null, line);
    const [, start, end, key, operation, number, result, output] = parts;
    const input = inputOf(operation!, Number(number));
    return {
      entity: 'a',
      node: 'node',
      input,
      ...(key === undefined ? {} : { key }),
      startMs: Number(start),
      endMs: Number(end),
      outcome: outcomeOf(input, result, output),
    };
  });
}

function inputOf(operation: string, number: number): Input {
  if (operation.startsWith('set')) return { kind: 'set', value: number };
  if (operation.startsWith('add')) return { kind: 'add', amount: number };
  return { kind: operation as 'get' | 'delete' };
}

function outcomeOf(
  input: Input,
  result: string | undefined,
  output: string | undefined,
): Outcome<number> {
  if (result === '?') return { kind: 'unknown' };
  if (result === '503') return { kind: 'not-done' };
  if (result === '422') return { kind: 'reused' };
  if (output !== undefined) return { kind: 'answered', output: Number(output) };
  assert(input.kind === 'set' || input.kind === 'delete', `${input.kind} needs a result`);
  return { kind: 'answered', output: input.kind === 'set' ? input.value : 0 };
}
