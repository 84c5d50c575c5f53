// TextSize measures texts in UTF-8 without encoding them.

/** The UTF-8 bytes of `text`, or some number above `max` where it takes more than `max` bytes. */
export function utf8Bytes(text: string, max: number): number {
  const units = text.length;
  if (units > max) return units;
  let bytes = units;
  for (let index = 0; index < units && bytes <= max; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // Each half of a surrogate pair stands for two of its four bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/** Whether `text` takes at most `max` bytes in UTF-8. */
export function fitsUtf8(text: string, max: number): boolean {
  // A UTF-16 unit takes three bytes at most, so the characters of most texts need not be read.
  return text.length * 3 <= max || utf8Bytes(text, max) <= max;
}
