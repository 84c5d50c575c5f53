// UrlProblem: the rules of the URL of a subscription. What a name server says of its host is judged with each attempt.
import { charactersOf, quoted } from '@svc/client';
import { receiverUrl } from '../sending/receiver-url.ts';
import { URL_LENGTH_MAX } from './subscription-limits.ts';

/** Judges a URL by its port and its host, and throws if deliveries may not go there: `ReceiverAddresses`. */
export interface AddressJudge {
  check(url: URL): void;
}

const WRITE = 'write an absolute http or https URL such as https://example.com/hook';
/** Parsers take other spellings, each its own ones. */
const ABSOLUTE = /^https?:\/\/[^/?#]/i;
const NOT_IN_URLS = /[\p{Cc}\p{Cs}\s\\]/u;
const USER_INFO = /^[^/]*\/\/[^/?#]*@/;

/** Returns why a text is no URL that a subscription may have; undefined for a valid one. */
export function urlProblem(text: string, addresses: AddressJudge): string | undefined {
  if (charactersOf(text) > URL_LENGTH_MAX) return `is longer than ${URL_LENGTH_MAX} characters`;
  if (!ABSOLUTE.test(text) || NOT_IN_URLS.test(text) || !URL.canParse(text))
    return `is ${quoted(text)}: ${WRITE}`;
  if (USER_INFO.test(text))
    return 'has a user name or a password: send credentials in a header, since the log shows the URL';
  if (text.includes('#'))
    return 'has a fragment, which is never sent: leave out the part from # on';
  try {
    addresses.check(receiverUrl(text));
  } catch {
    return 'leads to an address or a port to which nothing is delivered: use an address of the internet, and port 80, 443, or one from 1024 on';
  }
  return undefined;
}
