// The number of a title: 13 digits, the last of which checks the others.

/** Whether the text is an ISBN of 13 digits, without hyphens, whose check digit is right. */
export function isIsbn(text: string): bool {
  if (text.length != 13) return false;
  let sum = 0;
  for (let i = 0; i < 13; ++i) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return false;
    sum += i % 2 == 0 ? digit : 3 * digit;
  }
  return sum % 10 == 0;
}
