// DecimalOrder: the text by which a decimal is compared. Texts of decimals do not sort by number ("9" is after "12.50"),
// and a double cannot hold 100 digits; the text that `decimalOrder` makes sorts by code point as the decimals do by
// number, and is the same for equal numbers of different scale.

/** Added to the number of digits before the point, which is -99 to 100, so that three digits hold it. */
const EXPONENT_BASE = 500;

/**
 * Returns the text to compare for a decimal that `isDecimal` accepts: at most 105 characters. It is `1` for zero, and
 * otherwise the sign (`0` or `2`), the exponent in three digits, and the digits without zeros at either end. For a
 * negative number each digit is its complement to nine and `~`, which is after all digits, ends the text.
 */
export function decimalOrder(text: string): string {
  const isNegative = text.startsWith('-');
  const [whole = '', fraction = ''] = (isNegative ? text.slice(1) : text).split('.');
  const all = whole + fraction;
  let first = 0;
  while (first < all.length && all[first] === '0') first++;
  if (first === all.length) return '1';
  let end = all.length;
  while (all[end - 1] === '0') end--;
  const order = `${EXPONENT_BASE + whole.length - first}${all.slice(first, end)}`;
  return isNegative ? `0${complement(order)}~` : `2${order}`;
}

function complement(digits: string): string {
  let text = '';
  for (const digit of digits) text += String(9 - Number(digit));
  return text;
}
