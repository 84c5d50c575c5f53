// Frozen: a value that nothing can change any more. A part that was frozen here before is not looked through again, so that a state
// costs what is new in it.

/** Values that were frozen with everything in them. One that a program has frozen itself may hold others that are not. */
const deeplyFrozen = new WeakSet<object>();

/** Freezes the value and everything in it, and returns it. Bytes cannot be frozen. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || deeplyFrozen.has(value)) return value;
  if (ArrayBuffer.isView(value)) return value;
  deeplyFrozen.add(value);
  Object.freeze(value);
  for (const part of Object.values(value)) frozen(part);
  return value;
}

/** Matches the errors of V8 for a change of a frozen value, in strict code. */
const CHANGE = /object is not extensible|read only property|Cannot (?:delete|redefine) property/;

export function isChangeOfFrozen(error: unknown): boolean {
  return error instanceof TypeError && CHANGE.test(error.message);
}
