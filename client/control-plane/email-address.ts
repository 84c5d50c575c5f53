// EmailAddress: which two texts are the same e-mail address. Invitations are found by the normal form, so two people must
// never share one: letters are folded only where no letter of ASCII arises from another one.
import { EMAIL_LENGTH_MAX } from './vocabularies.ts';

/** Characters of the part before the `@`: those that need no quotes, and letters beyond ASCII. */
const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.\-\u{80}-\u{10ffff}]+$/u;
/** Characters of a domain before it is converted. Others would mean something to the parser of hosts. */
const DOMAIN = /^[A-Za-z0-9.\-\u{80}-\u{10ffff}]+$/u;
/** The ASCII form of a domain. Its last label is not a number, as it would be in an IPv4 address. */
const ASCII_DOMAIN =
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*(?!\d+$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Co}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
const ASCII = /[\0-\u{7f}]/u;

/**
 * Returns the form in which equal addresses are the same text: trimmed, in lower case and NFC, the domain in ASCII
 * (`münchen.de` becomes `xn--mnchen-3ya.de`). Returns undefined for a text that is no address: of more than 254 characters,
 * with quotes, blanks or control characters, or with characters that fold into letters of ASCII, such as the Kelvin sign.
 */
export function normalizedEmail(text: string): string | undefined {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  if (at === -1 || trimmed.length > EMAIL_LENGTH_MAX || HARMFUL.test(trimmed)) return undefined;
  const local = normalLocalPart(trimmed.slice(0, at));
  const domain = asciiDomain(trimmed.slice(at + 1));
  if (local === undefined || domain === undefined) return undefined;
  const normal = `${local}@${domain}`;
  return normal.length > EMAIL_LENGTH_MAX ? undefined : normal;
}

function normalLocalPart(local: string): string | undefined {
  if (!LOCAL_PART.test(local)) return undefined;
  const becomesAscii = Array.from(local).some(
    (character) => !ASCII.test(character) && ASCII.test(folded(character)),
  );
  return becomesAscii ? undefined : folded(local);
}

/** Lower-casing can take a text out of NFC. */
function folded(text: string): string {
  return text.normalize('NFC').toLowerCase().normalize('NFC');
}

function asciiDomain(domain: string): string | undefined {
  if (!DOMAIN.test(domain)) return undefined;
  // The parser of URLs converts domains, in Node and in browsers.
  const url = `http://${domain}`;
  if (!URL.canParse(url)) return undefined;
  const ascii = new URL(url).hostname;
  return ASCII_DOMAIN.test(ascii) ? ascii : undefined;
}
