// Hostname: the grammar of a custom hostname, in the one form in which hostnames are compared: lower case, ASCII, without
// a trailing dot and without a port.

export const HOSTNAME_LENGTH_MAX = 253;
const LABEL_TEXT = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const NUMBER_TEXT = '([0-9]+|0x[0-9a-f]*)';
/** Grammar of a hostname, as a JSON Schema writes it. */
export const HOSTNAME_PATTERN = `^${LABEL_TEXT}(\\.${LABEL_TEXT})+$`;
/** The end of what browsers read as an IPv4 address: the URL grammar does that if the last part is a number. */
export const ADDRESS_PATTERN = `\\.${NUMBER_TEXT}$`;
const LABEL = new RegExp(`^${LABEL_TEXT}$`);
const ADDRESS = new RegExp(ADDRESS_PATTERN);

/** Returns why the text is no hostname, with what to write instead; undefined for a valid one. */
export function hostnameProblem(text: string): string | undefined {
  if (text === '') return 'is empty: write a hostname such as shop.example.com';
  if (text.length > HOSTNAME_LENGTH_MAX) return `is longer than ${HOSTNAME_LENGTH_MAX} characters`;
  if (text.includes('://') || text.includes('/')) return 'is a URL: write the hostname alone';
  if (text.includes('*')) return 'has a wildcard: name each hostname';
  if (text.includes(':')) return 'has a port: write the hostname alone';
  if (/[A-Z]/.test(text)) return 'has upper case: write it in lower case';
  if (/[^\x21-\x7e]/.test(text))
    return 'has a character beyond ASCII or a blank: write an international name in its ASCII form (xn--…)';
  if (text.endsWith('.')) return 'ends with a dot: write it without';
  const labels = text.split('.');
  if (!labels.every((label) => LABEL.test(label)))
    return 'is no hostname: each part has at most 63 letters, digits and hyphens, with no hyphen first or last';
  if (labels.length < 2) return 'has one part only: write a whole name such as shop.example.com';
  if (ADDRESS.test(text)) return 'is an IP address: write a hostname';
  return undefined;
}
