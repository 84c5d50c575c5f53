// Integer arithmetic that refuses overflow, and strict parsing of numbers. The operators + - * silently drop the bits
// that do not fit, and parseInt ignores what follows the number.
import { Code } from "./code";
import { fromJson } from "./codec";
import { JsonReader, rangeWords } from "./json-reader";
import { Result, ok, refuse } from "./result";

/** Returns the sum of two integers of any type, or refuses with UNPROCESSABLE when it does not fit the type. */
export function checkedAdd<T>(a: T, b: T): Result<T> {
  if (!isInteger<T>()) ERROR("checkedAdd takes integers");
  const sum = <T>(a + b);
  const overflows = isSigned<T>() ? ((a ^ sum) & (b ^ sum)) < 0 : sum < a;
  return overflows ? tooLarge<T>(a, "+", b) : ok<T>(sum);
}

/** Returns the difference of two integers of any type, or refuses with UNPROCESSABLE when it does not fit the type. */
export function checkedSub<T>(a: T, b: T): Result<T> {
  if (!isInteger<T>()) ERROR("checkedSub takes integers");
  const difference = <T>(a - b);
  const overflows = isSigned<T>() ? ((a ^ b) & (a ^ difference)) < 0 : a < b;
  return overflows ? tooLarge<T>(a, "-", b) : ok<T>(difference);
}

/** Returns the product of two integers of any type, or refuses with UNPROCESSABLE when it does not fit the type. */
export function checkedMul<T>(a: T, b: T): Result<T> {
  if (!isInteger<T>()) ERROR("checkedMul takes integers");
  const product = <T>(a * b);
  let overflows = false;
  if (a != 0) {
    // Dividing the least number by -1 would trap.
    if (isSigned<T>() && a == <T>-1) overflows = b != 0 && product == b;
    else overflows = product / a != b;
  }
  return overflows ? tooLarge<T>(a, "*", b) : ok<T>(product);
}

function tooLarge<T>(a: T, operator: string, b: T): Result<T> {
  const message = a.toString() + " " + operator + " " + b.toString() + " does not fit into " + nameof<T>();
  return refuse<T>(message, Code.UNPROCESSABLE);
}

/** Parses the decimal digits of an i32, with `-` if negative; refuses other text, such as `1.0`, with BAD_REQUEST. */
export function parseI32(text: string): Result<i32> {
  return numberOf<i32>(text, rangeWords<i32>());
}

/** Parses the decimal digits of an i64, with `-` if negative; refuses other text, such as `1.0`, with BAD_REQUEST. */
export function parseI64(text: string): Result<i64> {
  return numberOf<i64>(text, "a 64-bit integer");
}

/** Parses a finite number in JSON's grammar; refuses any other text, also spaces around it, with BAD_REQUEST. */
export function parseF64(text: string): Result<f64> {
  return numberOf<f64>(text, "a number");
}

function numberOf<T>(text: string, wanted: string): Result<T> {
  // JSON has quotes around a 64-bit integer.
  const reader = new JsonReader(sizeof<T>() == 8 && isInteger<T>() ? "\"" + text + "\"" : text);
  const value = fromJson<T>(reader);
  const last = text.length - 1;
  const hasSpace = last >= 0 && (text.charCodeAt(0) <= 0x20 || text.charCodeAt(last) <= 0x20);
  return reader.failed || hasSpace ? refuse<T>("must be " + wanted) : ok<T>(value);
}
