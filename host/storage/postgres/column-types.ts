// ColumnTypes turn columns of PostgreSQL into values, for one connection; the types of other connections stay as they are. Numbers
// that fit are numbers, arrays are arrays, and everything else, JSON and times too, is text as the server has sent it.
import { types, type CustomTypesConfig } from 'pg';

type Parser = (text: string) => unknown;

const { builtins } = types;
/** Types of arrays, which `pg` has no names for. */
const INT_ARRAYS = [1005, 1007, 1016];
const TEXT_ARRAY = 1009;

const textArray = types.getTypeParser(TEXT_ARRAY as typeof builtins.BOOL) as (
  text: string,
) => readonly (string | null)[];

const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [builtins.BOOL, (text) => text === 't'],
  [builtins.INT2, Number],
  [builtins.INT4, Number],
  [builtins.INT8, safeInteger],
  [builtins.FLOAT8, Number],
  [TEXT_ARRAY, textArray],
  ...INT_ARRAYS.map((oid): [number, Parser] => [oid, integers]),
]);

/** A query fails with this when a column holds an integer that a number cannot hold. */
export class UnsafeInteger extends Error {}

export const COLUMN_TYPES: CustomTypesConfig = {
  getTypeParser: ((oid: number) => PARSERS.get(oid) ?? ((text: string) => text)) as never,
};

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new UnsafeInteger('a column holds an unsafe integer');
  return value;
}

function integers(text: string): readonly (number | null)[] {
  return textArray(text).map((item) => (item === null ? null : safeInteger(item)));
}
