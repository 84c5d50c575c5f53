// ResourceQuantity: processor time and memory in the notation of Kubernetes (`500m`, `512Mi`, `1e3`), read exactly: a
// quantity that is no whole number of thousandths of a core, or of bytes, is none.

export const QUANTITY =
  /^(\d{1,15})(?:\.(\d{1,9}))?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d{1,2})?$/;
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Returns the thousandths of a core, 1 or more; undefined for a text that is no such quantity. */
export function cpuMillis(text: string): number | undefined {
  return wholeNumber(text, 1000n);
}

/** Returns the bytes, 1 or more; undefined for a text that is no such quantity. */
export function memoryBytes(text: string): number | undefined {
  return wholeNumber(text, 1n);
}

/** Returns the quantity multiplied by `scale`, if that is a whole number that a double holds exactly, and not 0. */
function wholeNumber(text: string, scale: bigint): number | undefined {
  const [, whole, fraction = '', suffix = ''] = QUANTITY.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const [factor, divisor] = ratioOf(suffix);
  const dividend = BigInt(whole + fraction) * factor * scale;
  const all = divisor * 10n ** BigInt(fraction.length);
  const value = Number(dividend / all);
  return dividend % all === 0n && value > 0 && Number.isSafeInteger(value) ? value : undefined;
}

/** Returns the factor of a suffix as a dividend and a divisor. */
function ratioOf(suffix: string): readonly [bigint, bigint] {
  if (suffix === 'm') return [1n, 1000n];
  if (DECIMAL.includes(suffix)) return [1000n ** BigInt(DECIMAL.indexOf(suffix)), 1n];
  if (BINARY.includes(suffix)) return [1024n ** BigInt(BINARY.indexOf(suffix)), 1n];
  const exponent = Number(suffix.slice(1));
  return exponent < 0 ? [1n, 10n ** BigInt(-exponent)] : [10n ** BigInt(exponent), 1n];
}
