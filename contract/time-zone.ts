// The time zone of a schedule: an IANA name that this runtime knows, such as Europe/Berlin. An empty text stands for UTC.

const NAME = /^[A-Za-z][A-Za-z0-9_+\-/]*$/;
const NAME_LENGTH_MAX = 100;
const EXAMPLES = 'such as Europe/Berlin or UTC';

/**
 * Returns why the text is not the IANA name of a time zone that this runtime knows, as the end of a sentence about the
 * text, with what to write instead. Returns undefined for a valid name, in any case, and for an empty text. An offset such as `+02:00` is not
 * a name: it has no daylight saving time.
 */
export function timeZoneProblem(text: string): string | undefined {
  if (text === '') return undefined;
  if (text.length > NAME_LENGTH_MAX)
    return `has ${text.length} characters: write an IANA name of at most ${NAME_LENGTH_MAX}, ${EXAMPLES}`;
  if (/^[+-]\d/.test(text)) return `is an offset: write an IANA name, ${EXAMPLES}`;
  if (!NAME.test(text) || !isKnown(text))
    return `is not the name of a known time zone: write an IANA name, ${EXAMPLES}`;
  return undefined;
}

function isKnown(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
