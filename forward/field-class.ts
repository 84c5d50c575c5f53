// FieldClass: what the proxy does with a field depends on its class alone, and the class on the field's name. CGI, WSGI,
// PHP and some servers turn every character of a name but letters and digits into one underscore, so that `X_Svc_Caller`
// and `X.Svc.Caller` become the same variable as `X-Svc-Caller`. Names of the platform are therefore compared without
// regard to these characters.
import { PLATFORM_HEADER_PREFIX } from '@svc/client';
import { foldedName } from '@svc/http1';

export type FieldClass =
  | 'end-to-end'
  /** `Connection`, which nominates further fields of this hop. */
  | 'connection'
  /** Any other field of this hop. */
  | 'hop'
  | 'host'
  /** `X-Svc-*` */
  | 'platform'
  /** `X-Svc-Answered-By` */
  | 'answered-by'
  /** `Forwarded` */
  | 'forwarded'
  /** `X-Forwarded-Proto`, `-Host` and `-Port`. */
  | 'forwarded-address'
  | 'forwarded-for'
  /** A name that CGI folds into that of `X-Forwarded-For`. */
  | 'folded-forwarded-for';

const CLASSES: ReadonlyMap<string, FieldClass> = new Map<string, FieldClass>([
  ['connection', 'connection'],
  ['keep-alive', 'hop'],
  ['proxy-authenticate', 'hop'],
  ['proxy-authorization', 'hop'],
  ['proxy-connection', 'hop'],
  ['te', 'hop'],
  ['trailer', 'hop'],
  ['transfer-encoding', 'hop'],
  ['upgrade', 'hop'],
  ['host', 'host'],
  ['x-forwarded-for', 'forwarded-for'],
]);

const FOLDED_CLASSES: ReadonlyMap<string, FieldClass> = new Map<string, FieldClass>([
  ['forwarded', 'forwarded'],
  ['x-forwarded-proto', 'forwarded-address'],
  ['x-forwarded-host', 'forwarded-address'],
  ['x-forwarded-port', 'forwarded-address'],
  ['x-forwarded-for', 'folded-forwarded-for'],
  ['x-svc-answered-by', 'answered-by'],
]);

/**
 * Lengths of the names in CLASSES and FOLDED_CLASSES, a bit each, indexed by their first letter. Most names are recognised
 * as end-to-end by these two and the letter of the platform's prefix. Nothing is remembered of foreign names.
 */
const LENGTHS = new Int32Array(128);
for (const name of [...CLASSES.keys(), ...FOLDED_CLASSES.keys()])
  LENGTHS[name.charCodeAt(0)]! |= 1 << name.length;

const CASE_BIT = 0x20;
/** Position and code of a letter of the platform's prefix that no other frequent name has there. */
const PLATFORM_LETTER_AT = 2;
const PLATFORM_LETTER = PLATFORM_HEADER_PREFIX.charCodeAt(PLATFORM_LETTER_AT);

export function fieldClass(name: string): FieldClass {
  const lengths = LENGTHS[(name.charCodeAt(0) | CASE_BIT) & 0x7f]!;
  const isKnownLength = ((lengths >>> (name.length & 31)) & 1) !== 0;
  // A name of any length may begin with the platform's prefix.
  const mayBePlatform = (name.charCodeAt(PLATFORM_LETTER_AT) | CASE_BIT) === PLATFORM_LETTER;
  return isKnownLength || mayBePlatform ? judge(name) : 'end-to-end';
}

function judge(name: string): FieldClass {
  const lower = name.toLowerCase();
  const exact = CLASSES.get(lower);
  if (exact !== undefined) return exact;
  const folded = foldedName(lower);
  const found = FOLDED_CLASSES.get(folded);
  if (found !== undefined) return found;
  return folded.startsWith(PLATFORM_HEADER_PREFIX) ? 'platform' : 'end-to-end';
}
