// Integer arithmetic whose result is refused when it does not fit, and numbers read from text without a guess. The
// operators + - * drop the bits that do not fit, and parseInt takes what it can.
import { Code } from "./code";
import { fromJson } from "./codec";
import { JsonReader, rangeWords } from "./json-reader";
import { Result, ok, refuse } from "./result";

/** The sum of two integers of any type; refused with UNPROCESSABLE when it does not fit into the type. */
export function checkedAdd<T>(a: T, b: T): Result<T> {
  if (!isInteger<T>()) ERROR("checkedAdd takes integers");
  const sum = <T>(a + b);
  const overflows = isSigned<T>() ? ((a ^ sum) & (b ^ sum)) < 0 : sum < a;
  return overflows ? tooLarge<T>(a, "+", b) : ok<T>(sum);
}

/** The difference of two integers of any type; refused with UNPROCESSABLE when it does not fit into the type. */
export function checkedSub<T>(a: T, b: T): Result<T> {
  if (!isInteger<T>()) ERROR("checkedSub takes integers");
  const difference = <T>(a - b);
  const overflows = isSigned<T>() ? ((a ^ b) & (a ^ difference)) < 0 : a < b;
  return overflows ? tooLarge<T>(a, "-", b) : ok<T>(difference);
}

/** The product of two integers of any type; refused with UNPROCESSABLE when it does not fit into the type. */
export function checkedMul<T>(a: T, b: T): Result<T> {
  if (!isInteger<T>()) ERROR("checkedMul takes integers");
  const product = <T>(a * b);
  let overflows = false;
  if (a != 0) {
    // The least number divided by -1 would trap.
    if (isSigned<T>() && a == <T>-1) overflows = b != 0 && product == b;
    else overflows = product / a != b;
  }
  return overflows ? tooLarge<T>(a, "*", b) : ok<T>(product);
}

function tooLarge<T>(a: T, operator: string, b: T): Result<T> {
  const message = a.toString() + " " + operator + " " + b.toString() + " does not fit into " + nameof<T>();
  return refuse<T>(message, Code.UNPROCESSABLE);
}

/** The number that the whole text is, in JSON's grammar; anything else is refused with BAD_REQUEST. */
export function parseI32(text: string): Result<i32> {
  return numberOf<i32>(text, rangeWords<i32>());
}

/** The number that the whole text is, in JSON's grammar; anything else is refused with BAD_REQUEST. */
export function parseI64(text: string): Result<i64> {
  return numberOf<i64>(text, "a 64-bit integer");
}

/** The number that the whole text is, in JSON's grammar; anything else is refused with BAD_REQUEST. */
export function parseF64(text: string): Result<f64> {
  return numberOf<f64>(text, "a number");
}

function numberOf<T>(text: string, wanted: string): Result<T> {
  // A 64-bit integer has quotes in JSON.
  const reader = new JsonReader(sizeof<T>() == 8 && isInteger<T>() ? "\"" + text + "\"" : text);
  const value = fromJson<T>(reader);
  const last = text.length - 1;
  const hasSpace = last >= 0 && (text.charCodeAt(0) <= 0x20 || text.charCodeAt(last) <= 0x20);
  return reader.failed || hasSpace ? refuse<T>("must be " + wanted) : ok<T>(value);
}
